import { createResource, For, type JSX, Show } from 'solid-js';
import { t } from '../language';
import { boot } from '../session';
import { Failure } from '../ui/parts';

/** The program, and the licences of what browsers get of others. */
export default function About(): JSX.Element {
  const [told, { refetch }] = createResource(async () => (await import('virtual:licences')).default);
  return (
    <main class="page">
      <h1>{t('page.About')}</h1>
      <p>{t('admin.about.licence', { version: boot()?.version ?? '' })}</p>
      <p>
        {t('admin.about.drawn')}{' '}
        <a href="https://bpmn.io" rel="noreferrer noopener" target="_blank">
          bpmn.io
        </a>{' '}
        {t('admin.about.watermark')}
      </p>
      <h2>{t('admin.about.packages')}</h2>
      <Show when={told.error as unknown}>{(error) => <Failure of={error()} again={() => void refetch()} />}</Show>
      <Show when={!told.error && told()}>
        {(licences) => (
          <For each={licences()}>
            {(one) => (
              <details>
                <summary>{`${one.licence}: ${one.packages.join(', ')}`}</summary>
                <pre>{one.text || t('admin.about.noText')}</pre>
              </details>
            )}
          </For>
        )}
      </Show>
    </main>
  );
}
