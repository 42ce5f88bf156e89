// A real browser, as its npm package carries it: nothing is downloaded beside that.
import assert from 'node:assert/strict';

/** The package has the libraries that the browser needs, but unpacks them only where it takes itself to be on a bare machine. */
const BARE_MACHINE = 'nodejs22.x';
const LAUNCH_TIMEOUT_MS = 60_000;
/** None of those that the package proposes: they turn off what is tested here. */
const ARGUMENTS = ['--no-sandbox', '--no-zygote', '--disable-gpu', '--disable-dev-shm-usage'];

/** A headless Chromium; where there is none, the test fails with a line that says so. */
export async function launchChromium() {
  try {
    process.env.AWS_LAMBDA_JS_RUNTIME ??= BARE_MACHINE;
    const { default: chromium } = await import('@sparticuz/chromium');
    const { launch } = await import('puppeteer-core');
    chromium.setGraphicsMode = false;
    const executablePath = await chromium.executablePath();
    return await launch({ executablePath, headless: 'shell', args: ARGUMENTS, timeout: LAUNCH_TIMEOUT_MS });
  } catch (error) {
    return assert.fail(`there is no browser to test with: ${error.message}`);
  }
}
