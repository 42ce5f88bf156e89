/** Messages of what changes instances: bulk actions, modification, migration, acting as the worker, in English. */
export default {
} as const;
