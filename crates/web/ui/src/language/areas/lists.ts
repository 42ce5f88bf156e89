/** Messages of the lists of Operate: overview, instances, definitions, decisions, incidents, batch operations, logs, messages, in English. */
export default {
} as const;
