/** Messages of one instance and its tabs, in English. */
export default {
} as const;
