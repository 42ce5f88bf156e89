// The browser of the tests: `CHROMIUM`, else one on the path, else the one that an npm package carries.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** The package has the libraries that the browser needs, but unpacks them only where it takes itself to be on a bare machine. */
const BARE_MACHINE = 'nodejs22.x';
const ARGUMENTS = ['--no-zygote', '--disable-gpu', '--disable-dev-shm-usage'];

function onPath() {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find((path) => existsSync(path));
}

async function ofPackage() {
  process.env.AWS_LAMBDA_JS_RUNTIME ??= BARE_MACHINE;
  const { default: packed } = await import('@sparticuz/chromium');
  packed.setGraphicsMode = false;
  return packed.executablePath();
}

/** The path of the browser. That of the package is unpacked by the first call: two programs must not make it at once. */
export const browserPath = async () => process.env.CHROMIUM || onPath() || ofPackage();

/** A headless Chromium; where there is none, the error says so. */
export async function launch() {
  try {
    const executablePath = await browserPath();
    // As root, Chromium has no sandbox.
    const args = process.getuid?.() === 0 ? [...ARGUMENTS, '--no-sandbox'] : ARGUMENTS;
    return await chromium.launch({ executablePath, args });
  } catch (error) {
    throw new Error(`there is no browser to test with; set CHROMIUM to one: ${error.message}`);
  }
}
