import { createSignal, For, type JSX, Show } from 'solid-js';
import { BASE } from '../base';
import { t } from '../language';
import { Copy, Dialog } from '../ui/parts';
import { type Asked, type BatonSearch, batonOf, curlOf } from './query';

const SHOWN = 2000;

/** The shown list for use elsewhere: a link, the rows as JSON and keys, the request for curl and for the command line. */
export function CopyAs(props: { asked: Asked; search: BatonSearch; rows: readonly unknown[]; keys: readonly string[] }): JSX.Element {
  const [open, setOpen] = createSignal(false);
  const forms = (): [string, string][] => [
    [t('lists.copyAs.link'), location.href],
    [t('lists.copyAs.keys'), props.keys.join('\n')],
    [t('lists.copyAs.rows'), JSON.stringify(props.rows, null, 2)],
    ['curl', curlOf(location.origin + BASE, props.asked)],
    ['baton', batonOf(location.origin + BASE, props.search)],
  ];
  return (
    <>
      <button onClick={() => setOpen(true)}>{t('lists.copyAs')}</button>
      <Show when={open()}>
        <Dialog title={t('lists.copyAs.title')} onClose={() => setOpen(false)} wide>
          <For each={forms()}>
            {([name, text]) => (
              <section aria-label={name}>
                <h3>
                  {name} <Copy text={text} label={name} />
                </h3>
                <pre class="copied" tabindex="0">
                  {text.slice(0, SHOWN)}
                  {text.length > SHOWN ? ' …' : ''}
                </pre>
              </section>
            )}
          </For>
        </Dialog>
      </Show>
    </>
  );
}
