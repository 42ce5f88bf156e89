import { For, type JSX, Show } from 'solid-js';
import type { Asked } from '../api/http';
import { BASE } from '../base';
import { t } from '../language';
import { Copy, Dialog } from '../ui/parts';
import { batonOf, curlOf, javaOf, nodeOf, pythonOf } from './code';

const SHOWN = 2000;

/** Requests, and the rows that they found, if they are a list. */
export interface Taken {
  asked: readonly Asked[];
  rows?: readonly unknown[];
  keys?: readonly string[];
}

/** The content as a link, keys, JSON, lines for a shell, and programs. */
export default function CopyDialog(props: { of: Taken; onClose: () => void }): JSX.Element {
  const { asked, rows, keys } = props.of;
  const { href } = location;
  const origin = location.origin + BASE;
  const baton = batonOf(origin, asked);
  const forms: [string, string][] = [
    ...(rows ? ([[t('part.copyAs.link'), href]] as [string, string][]) : []),
    ...(keys && keys.length > 0 ? ([[t('part.copyAs.keys'), keys.join('\n')]] as [string, string][]) : []),
    ...(rows ? ([[t('part.copyAs.rows'), JSON.stringify(rows, null, 2)]] as [string, string][]) : []),
    ['curl', curlOf(origin, asked)],
    ...(baton === undefined ? [] : ([['baton', baton]] as [string, string][])),
    ['Java', javaOf(origin, asked)],
    ['Node', nodeOf(origin, asked)],
    ['Python', pythonOf(origin, asked)],
  ];
  return (
    <Dialog title={t('part.copyAs.title')} onClose={props.onClose} wide>
      <p class="muted">
        {t('part.copyAs.credentials')} <Show when={baton === undefined}>{t('part.copyAs.noBaton')}</Show>
      </p>
      <For each={forms}>
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
  );
}
