/** Messages of time travel, durations, workers, quarantine, in English. */
export default {
} as const;
