import type { JSX } from 'solid-js';
import type { BatchOperationResponse } from '../api/generated/types';
import { t } from '../language';
import { State } from '../ui/parts';

/** The state of a batch operation. One that had nothing to do is told apart from one that is done. */
export function BatchState(props: { of: BatchOperationResponse }): JSX.Element {
  const isEmpty = () => props.of.state === 'COMPLETED' && props.of.operationsTotalCount === 0;
  return <State of={isEmpty() ? 'PENDING' : props.of.state} {...(isEmpty() ? { word: t('lists.batch.empty') } : {})} />;
}
