import { useSearchParams } from '@solidjs/router';
import { type JSX, Show } from 'solid-js';
import { t } from '../language';
import { Filters } from '../ui/Filters';
import { wordOf } from '../ui/words';
import { Views } from '../views/Views';
import { CATEGORIES, ENTITIES, type LogQuery, OPERATIONS, toApi } from './filter';
import { Log } from './LogTable';

const words = (values: readonly string[]) => values.map((one) => [one, wordOf(one)] as const);

/** The operations log: filters and table, all in the address. `views` names the page whose filters can be saved. */
export function LogPage(props: { views?: string }): JSX.Element {
  const [query] = useSearchParams<LogQuery>();
  return (
    <main class="page">
      <div class="row">
        <h1>{t('page.Operations log')}</h1>
        <span class="spacer" />
        <Show when={props.views}>{(page) => <Views page={page()} />}</Show>
      </div>
      <Filters
        of={[
          { name: 'operationType', label: t('ui.log.operation'), options: words(OPERATIONS) },
          { name: 'entityType', label: t('ui.log.of'), options: words(ENTITIES) },
          { name: 'category', label: t('ui.log.category'), options: words(CATEGORIES) },
          { name: 'result', label: t('ui.log.result'), options: [['SUCCESS', t('ui.log.done')], ['FAIL', t('ui.log.refused')]] },
          { name: 'actor', label: t('ui.log.by') },
          { name: 'key', label: t('ui.log.key') },
          { name: 'processInstance', label: t('ui.log.instanceKey') },
          { name: 'from', label: t('ui.log.from'), type: 'datetime-local' },
          { name: 'to', label: t('ui.log.to'), type: 'datetime-local' },
        ]}
      />
      <Log filter={toApi(query)} />
    </main>
  );
}

export default LogPage;
