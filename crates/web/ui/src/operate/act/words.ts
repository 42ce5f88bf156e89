// Texts that people type: objects of variables and durations.
import { t } from '../../language';

/** Why a text is no JSON object, or nothing. */
export function objectProblem(text: string): string | undefined {
  if (text.trim() === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? undefined : t('change.variables.object', { example: '{"paid": true}' });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const MS: Record<string, number> = { ms: 1, s: 1000, min: 60_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of `90 s`, `5 min`, `2 h` or `1 d`; a bare number is in seconds. */
export function durationOf(text: string): number | undefined {
  const found = /^(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|d)?$/.exec(text.trim());
  const value = found ? Math.round(Number(found[1]) * MS[found[2] ?? 's']!) : undefined;
  return value !== undefined && Number.isSafeInteger(value) ? value : undefined;
}
