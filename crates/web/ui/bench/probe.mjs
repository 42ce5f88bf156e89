// What a page tells of itself while it is measured. The time of a click counts from its event until the frame that shows
// the answer has been painted, on the clock of the page.

/** Runs in the page, before its own scripts. */
function install() {
  if (globalThis.probe) return;
  const LATE_MS = 20_000;
  let calls = [];
  const own = globalThis.fetch;
  // The answer is on the page after the timers that its text has set off.
  const settle = (call) => setTimeout(() => setTimeout(() => (call.isDone = true)));
  globalThis.fetch = async (input, init) => {
    const { pathname } = new URL(input, location.href);
    if (pathname === '/baton/v1/changes') return own(input, init);
    const call = { path: pathname, isDone: false };
    calls.push(call);
    try {
      const answer = await own(input, init);
      const text = answer.text.bind(answer);
      answer.text = async () => {
        const told = await text();
        settle(call);
        return told;
      };
      return answer;
    } catch (error) {
      call.isDone = true;
      throw error;
    }
  };
  /** Resolves once the frame under way has been painted. */
  const painted = () =>
    new Promise((done) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => done();
      port2.postMessage(undefined);
    });
  /** Resolves after the first painted frame in which something is so. */
  const frame = (isSo, what) =>
    new Promise((done, fail) => {
      const late = performance.now() + LATE_MS;
      const look = () => {
        if (isSo()) void painted().then(done);
        else if (performance.now() > late) fail(new Error(`${what}: not within ${LATE_MS} ms; ${location.href}, ${JSON.stringify(calls)}`));
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    });
  const isShown = (selector, text) => [...document.querySelectorAll(selector)].some((one) => text === undefined || one.textContent.trim() === text);
  /** How long the server worked on the slowest answer to these requests, as it says. */
  const serverMs = (asks) => {
    const durations = performance
      .getEntriesByType('resource')
      .filter(({ name }) => asks.test(new URL(name).pathname))
      .map(({ serverTiming }) => serverTiming.reduce((sum, { duration }) => sum + duration, 0));
    return durations.length > 0 ? Math.max(...durations) : undefined;
  };
  performance.setResourceTimingBufferSize(5000);
  globalThis.probe = {
    /** Follows a link of the page's own kind, until what it asks for, if it does, has come and is shown. */
    async click({ href, asks, shown }) {
      const pattern = asks === undefined ? undefined : new RegExp(asks);
      calls = [];
      performance.clearResourceTimings();
      const link = document.createElement('a');
      link.href = href;
      link.textContent = 'measured';
      document.body.append(link);
      const began = performance.now();
      link.click();
      link.remove();
      await frame(() => {
        const asked = calls.filter(({ path }) => pattern?.test(path));
        return (asked.length > 0 || !pattern) && asked.every(({ isDone }) => isDone) && !document.querySelector('.stale') && isShown(shown);
      }, href);
      return { ms: performance.now() - began, serverMs: pattern && serverMs(pattern) };
    },
    /** Presses a button, until a text is shown. */
    async press(button, shown, text) {
      const found = [...document.querySelectorAll('button')].find((one) => one.textContent.trim() === button && !one.disabled);
      if (!found) throw new Error(`there is no button ${button}`);
      const began = performance.now();
      found.click();
      await frame(() => isShown(shown, text), `${button} to ${text}`);
      return performance.now() - began;
    },
    /** The moment when a text is shown, by the clock of the machine. */
    async when(shown, text) {
      await frame(() => isShown(shown, text), text);
      return Date.now();
    },
    /** Times between frames while a step is made in each, in milliseconds. */
    frames(count, step) {
      return new Promise((done) => {
        const times = [];
        let last;
        const next = (now) => {
          if (last !== undefined) times.push(now - last);
          last = now;
          if (times.length === count) done(times);
          else {
            step(times.length);
            requestAnimationFrame(next);
          }
        };
        requestAnimationFrame(next);
      });
    },
    /** Since the navigation began, until something was painted. */
    async since(shown) {
      await frame(() => isShown(shown), shown);
      return performance.now();
    },
  };
}

/** Puts the probe into all documents that the page loads from now on. */
export const addProbe = (page) => page.addInitScript(install);

export const click = (page, target) => page.evaluate((one) => globalThis.probe.click(one), target);
