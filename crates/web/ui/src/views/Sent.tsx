import { For, type JSX, Show } from 'solid-js';
import { lastSent } from '../api/sent';
import { t } from '../language';
import { Dialog } from '../ui/parts';
import { Time } from '../ui/time';
import { CopyCommands } from './CopyAs';

/** The last commands of this page, each in forms for use elsewhere. */
export default function Sent(props: { onClose: () => void }): JSX.Element {
  const all = lastSent();
  return (
    <Dialog title={t('part.sent')} onClose={props.onClose} wide>
      <Show when={all.length > 0} fallback={<p class="empty">{t('part.sent.none')}</p>}>
        <ul class="plain-list">
          <For each={all}>
            {({ asked, at }) => (
              <li class="row">
                <code class="grow clip">
                  {asked.method} {asked.path}
                </code>
                <Time of={at.toISOString()} />
                <CopyCommands of={() => [asked]} />
              </li>
            )}
          </For>
        </ul>
      </Show>
    </Dialog>
  );
}
