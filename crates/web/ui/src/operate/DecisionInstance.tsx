import { A, useParams } from '@solidjs/router';
import { For, type JSX, Show } from 'solid-js';
import { getDecisionDefinition, getDecisionInstance } from '../api/generated/operations';
import { DmnDiagram } from '../diagram/DmnDiagram';
import { Problem } from '../api/http';
import { t } from '../language';
import { useRead } from '../query';
import { pretty } from '../ui/json';
import { Failure, State } from '../ui/parts';
import { Time } from '../ui/time';
import { instanceOf } from './evaluations';

/** One evaluation: the table with the rules that matched, what went in and what came out. */
export default function DecisionInstance(): JSX.Element {
  const params = useParams<{ key: string }>();
  const isKey = () => /^\d{1,19}-\d{1,19}$/.test(params.key);
  const found = useRead(getDecisionInstance, () => ({ path: { decisionEvaluationInstanceKey: params.key }, enabled: isKey(), keep: false }));
  const definition = useRead(getDecisionDefinition, () => ({
    path: { decisionDefinitionKey: found.data?.decisionDefinitionKey ?? '' },
    enabled: found.data !== undefined,
    keep: false,
  }));
  const isMissing = () => !isKey() || (found.error instanceof Problem && found.error.status === 404);
  return (
    <main class="page">
      <Show when={isMissing()}>
        <h1>{t('lists.evaluation.missing')}</h1>
        <p>{t('lists.evaluation.missing.text', { key: params.key.slice(0, 100) })}</p>
      </Show>
      <Show when={!isMissing() && found.error}>{(error) => <Failure of={error()} again={() => void found.refetch()} />}</Show>
      <Show when={found.data}>
        {(one) => (
          <>
            <div class="row">
              <State of={one().state} />
              <h1>{one().decisionDefinitionName || one().decisionDefinitionId}</h1>
              <A href={`/operate/decisions?decision=${encodeURIComponent(one().decisionDefinitionId)}&version=${one().decisionDefinitionVersion}`}>{t('start.version', { version: one().decisionDefinitionVersion })}</A>
              <span class="key">{one().decisionEvaluationInstanceKey}</span>
              <span class="muted">
                {t('lists.evaluation.evaluated')} <Time of={one().evaluationDate} />
              </span>
              <Show when={instanceOf(one())}>{(key) => <A href={`/operate/processes/${key()}`}>{t('lists.evaluation.instance', { key: key() })}</A>}</Show>
            </div>
            <Show when={one().evaluationFailure}>
              {(failure) => (
                <div class="failure" role="alert">
                  <strong>{t('lists.evaluation.failed')}</strong>
                  <p>{failure()}</p>
                </div>
              )}
            </Show>
            <Show when={definition.data} keyed>
              {(of) => <DmnDiagram requirementsKey={of.decisionRequirementsKey} decisionId={one().decisionDefinitionId} matched={one().matchedRules.map((rule) => rule.ruleId)} />}
            </Show>
            <div class="grid">
              <Values title={t('lists.evaluation.inputs')} rows={one().evaluatedInputs.map((input) => [input.inputName || input.inputId, input.inputValue])} />
              <Values
                title={t('lists.evaluation.outputs')}
                rows={one().matchedRules.flatMap((rule) => rule.evaluatedOutputs.map((output): [string, string] => [t('lists.evaluation.output', { rule: rule.ruleIndex, output: output.outputName || output.outputId }), output.outputValue]))}
              />
              <section class="panel" aria-label={t('lists.evaluation.result')}>
                <h2>{t('lists.evaluation.result')}</h2>
                <pre>{pretty(one().result ?? '')}</pre>
              </section>
            </div>
          </>
        )}
      </Show>
    </main>
  );
}

function Values(props: { title: string; rows: [string, string][] }): JSX.Element {
  return (
    <section class="panel" aria-label={props.title}>
      <h2>{props.title}</h2>
      <Show when={props.rows.length > 0} fallback={<p class="muted">{t('lists.evaluation.none')}</p>}>
        <table>
          <tbody>
            <For each={props.rows}>
              {([name, value]) => (
                <tr>
                  <th scope="row">{name}</th>
                  <td>
                    <code>{value}</code>
                  </td>
                </tr>
              )}
            </For>
          </tbody>
        </table>
      </Show>
    </section>
  );
}
