/** Messages of Admin and the inside of the cluster, in English. */
export default {
} as const;
