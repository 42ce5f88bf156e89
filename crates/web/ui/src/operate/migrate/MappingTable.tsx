import { For, type JSX, Show } from 'solid-js';
import type { Model } from '../../diagram/model';
import { number } from '../../ui/numbers';
import { kindText, type Row, targetsFor } from './mapping';
import { t } from '../../language';

/** What each element of the source becomes, and why it can't. */
export function MappingTable(props: {
  rows: readonly Row[];
  source: Model;
  target: Model;
  tokensOn: (id: string) => number;
  selected: string | undefined;
  onSelect: (id: string) => void;
  onMap: (source: string, target: string | undefined) => void;
}): JSX.Element {
  const name = (one: { id: string; name: string }) => (one.name ? `${one.name} (${one.id})` : one.id);
  return (
    <div class="scroll" tabindex="0" role="region" aria-label={t('change.migrate.mapping')}>
      <table aria-label={t('change.migrate.mapping.table')}>
        <thead>
          <tr>
            <th scope="col">{t('change.migrate.element')}</th>
            <th scope="col">{t('change.migrate.type')}</th>
            <th scope="col" class="number">
              {t('change.migrate.tokens')}
            </th>
            <th scope="col">{t('change.migrate.becomes')}</th>
            <th scope="col">{t('change.migrate.because')}</th>
            <th scope="col">{t('change.migrate.problems')}</th>
          </tr>
        </thead>
        <tbody>
          <For each={props.rows.map((row) => row.source.id)}>
            {(id) => {
              const row = () => props.rows.find((one) => one.source.id === id)!;
              return (
                <tr classList={{ chosen: props.selected === id }} onClick={() => props.onSelect(id)}>
                  <td>{name(row().source)}</td>
                  <td>{kindText(row().source)}</td>
                  <td class="number">{number(props.tokensOn(id))}</td>
                  <td>
                    <select aria-label={t('change.migrate.targetOf', { name: name(row().source) })} onChange={(event) => props.onMap(id, event.currentTarget.value || undefined)}>
                      <option value="">{t('change.migrate.nothing')}</option>
                      <For each={targetsFor(row().source, props.target)}>
                        {(one) => (
                          <option value={one.id} selected={one.id === row().target}>
                            {name(one)}
                          </option>
                        )}
                      </For>
                    </select>
                  </td>
                  <td>{row().origin === 'chosen' ? t('change.migrate.chosen') : row().origin === 'ID' ? t('change.migrate.sameId') : row().origin ? t('change.migrate.sameName') : '–'}</td>
                  <td>
                    <Show when={row().problems.length > 0} fallback={row().target === undefined && props.tokensOn(id) > 0 ? <span class="state incident">{t('change.migrate.notMapped')}</span> : '–'}>
                      <ul class="problems">
                        <For each={row().problems}>{(problem) => <li>{problem}</li>}</For>
                      </ul>
                    </Show>
                  </td>
                </tr>
              );
            }}
          </For>
        </tbody>
      </table>
    </div>
  );
}
