import { createResource, For, type JSX, Show } from 'solid-js';
import { boot } from '../session';
import { Failure } from '../ui/parts';

/** The program, and the licences of what browsers get of others. */
export default function About(): JSX.Element {
  const [told, { refetch }] = createResource(async () => (await import('virtual:licences')).default);
  return (
    <main class="page">
      <h1>About</h1>
      <p>{`Baton ${boot()?.version}, licensed under the Apache License 2.0.`}</p>
      <p>
        Diagrams, decisions and forms are drawn by bpmn-js, dmn-js and form-js of bpmn.io. Their licence is MIT with one more condition: the watermark that links to{' '}
        <a href="https://bpmn.io" rel="noreferrer noopener" target="_blank">
          bpmn.io
        </a>{' '}
        stays visible and unchanged.
      </p>
      <h2>Licences of the packages in these pages</h2>
      <Show when={told.error as unknown}>{(error) => <Failure of={error()} again={() => void refetch()} />}</Show>
      <Show when={!told.error && told()}>
        {(licences) => (
          <For each={licences()}>
            {(one) => (
              <details>
                <summary>{`${one.licence}: ${one.packages.join(', ')}`}</summary>
                <pre>{one.text || 'The package has no text of its own.'}</pre>
              </details>
            )}
          </For>
        )}
      </Show>
    </main>
  );
}
