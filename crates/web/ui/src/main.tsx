import { QueryClientProvider } from '@tanstack/solid-query';
import { render } from 'solid-js/web';
import { App } from './app';
import { applyTheme } from './frame/theme';
import { applyLanguage } from './language';
import { client } from './query';

applyTheme();
// An address with two slashes in a row is that with one.
if (location.pathname.includes('//')) history.replaceState(null, '', location.pathname.replaceAll(/\/{2,}/g, '/') + location.search + location.hash);
// A file that is dropped beside its place would take the browser away from the page, and with it what was typed.
for (const kind of ['dragover', 'drop'] as const) {
  addEventListener(kind, (event) => {
    if (event.defaultPrevented || !event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = 'none';
  });
}
const root = document.getElementById('app');
if (!root) throw new Error('the page has no place for the application');
const place = root;
// A language that does not load leaves English.
void applyLanguage()
  .catch(() => undefined)
  .then(() => {
    place.replaceChildren();
    render(
      () => (
        <QueryClientProvider client={client}>
          <App />
        </QueryClientProvider>
      ),
      place,
    );
  });
