import { QueryClientProvider } from '@tanstack/solid-query';
import { render } from 'solid-js/web';
import { App } from './app';
import { applyTheme } from './frame/theme';
import { applyLanguage } from './language';
import { client } from './query';

applyTheme();
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
