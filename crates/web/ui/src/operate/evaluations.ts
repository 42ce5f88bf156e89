// The filter of the list of evaluations, in the reference's parameters.
import type { DecisionInstanceFilter } from '../api/generated/types';

const KEY = /^\d{1,19}$/;
const EVALUATION_KEY = /^\d{1,19}-\d{1,19}$/;

export interface EvaluationQuery {
  decision?: string;
  /** As older links have it. */
  name?: string;
  version?: string;
  evaluated?: string;
  failed?: string;
  processInstanceId?: string;
  decisionInstanceIds?: string;
  evaluationDateAfter?: string;
  evaluationDateBefore?: string;
  tenant?: string;
  businessId?: string;
}

export const decisionOf = (query: EvaluationQuery): string | undefined => query.decision || query.name || undefined;
export const versionOf = (query: EvaluationQuery): number | undefined => {
  const value = Number(query.version);
  return Number.isInteger(value) && value > 0 ? value : undefined;
};

/** The key of an evaluation's process instance; nothing for one without. */
export const instanceOf = (evaluation: { processInstanceKey: string | null }): string | undefined =>
  evaluation.processInstanceKey === '-1' ? undefined : (evaluation.processInstanceKey ?? undefined);

/** The filter of the API. Parameters that make no sense are as if they were not there. */
export function toApi(query: EvaluationQuery): DecisionInstanceFilter {
  const filter: DecisionInstanceFilter = {};
  const decision = decisionOf(query);
  const version = versionOf(query);
  if (decision) filter.decisionDefinitionId = decision;
  if (decision && version) filter.decisionDefinitionVersion = version;
  if ((query.failed === 'true') !== (query.evaluated === 'true')) filter.state = query.failed === 'true' ? 'FAILED' : 'EVALUATED';
  if (KEY.test(query.processInstanceId ?? '')) filter.processInstanceKey = query.processInstanceId!;
  const keys = (query.decisionInstanceIds ?? '').split(/[\s,]+/).filter((one) => EVALUATION_KEY.test(one));
  if (keys.length > 0) filter.decisionEvaluationInstanceKey = { $in: keys };
  const moment = (text: string | undefined) => (text && !Number.isNaN(Date.parse(text)) ? new Date(text).toISOString() : undefined);
  const [after, before] = [moment(query.evaluationDateAfter), moment(query.evaluationDateBefore)];
  if (after || before) filter.evaluationDate = { ...(after ? { $gte: after } : {}), ...(before ? { $lte: before } : {}) };
  if (query.tenant) filter.tenantId = query.tenant;
  if (query.businessId) filter.businessId = query.businessId;
  return filter;
}
