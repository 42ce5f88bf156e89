import { createSignal, For, type JSX, onCleanup, Show } from 'solid-js';
import type { DocumentReference } from '../api/generated/types';
import { t } from '../language';
import { need } from '../rights';
import { MayLink } from '../ui/May';
import { bytes } from '../ui/numbers';
import { Action, Dialog } from '../ui/parts';
import { canShow, documentPath, preview } from '../ui/documents';

const MAY_READ = need('DOCUMENT', 'READ');
type Shown = Awaited<ReturnType<typeof preview>>;

/** Documents that the variables of a task refer to, to look at and to download. */
export function Documents(props: { of: readonly DocumentReference[] }): JSX.Element {
  const [shown, setShown] = createSignal<{ of: DocumentReference; content: Shown }>();
  const close = () => {
    const content = shown()?.content;
    if (content && 'picture' in content) URL.revokeObjectURL(content.picture);
    setShown(undefined);
  };
  onCleanup(close);
  return (
    <section aria-label={t('documents.title')}>
      <h2>{t('documents.title')}</h2>
      <ul class="plain-list">
        <For each={props.of}>
          {(one) => (
            <li class="row">
              <span>{one.metadata.fileName}</span>
              <span class="muted">{`${one.metadata.contentType ?? ''} ${bytes(one.metadata.size ?? 0)}`}</span>
              <Show when={canShow(one)} fallback={<span class="muted">{t('documents.noPreview')}</span>}>
                <Action needs={MAY_READ} label={t('documents.previewOf', { name: one.metadata.fileName })} do={async () => setShown({ of: one, content: await preview(one) })}>
                  {t('documents.preview')}
                </Action>
              </Show>
              <MayLink needs={MAY_READ} href={documentPath(one)} download={one.metadata.fileName} label={t('documents.downloadOf', { name: one.metadata.fileName })}>
                {t('documents.download')}
              </MayLink>
            </li>
          )}
        </For>
      </ul>
      <Show when={shown()}>
        {(one) => (
          <Dialog title={one().of.metadata.fileName} onClose={close} wide>
            <Content of={one().content} name={one().of.metadata.fileName} />
          </Dialog>
        )}
      </Show>
    </section>
  );
}

function Content(props: { of: Shown; name: string }): JSX.Element {
  return (
    <>
      {'picture' in props.of ? (
        <img class="preview" src={props.of.picture} alt={props.name} />
      ) : (
        <>
          <pre>{props.of.text}</pre>
          <Show when={props.of.isCut}>
            <p class="muted">{t('documents.cut')}</p>
          </Show>
        </>
      )}
    </>
  );
}
