import { QueryClientProvider } from '@tanstack/solid-query';
import { render } from 'solid-js/web';
import { App } from './app';
import { applyTheme } from './frame/theme';
import { applyLanguage } from './language';
import { client } from './query';

applyTheme();
// An address with two slashes in a row is that with one.
if (location.pathname.includes('//')) history.replaceState(null, '', location.pathname.replaceAll(/\/{2,}/g, '/') + location.search + location.hash);
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
