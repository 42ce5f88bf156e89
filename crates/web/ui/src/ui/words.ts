import { known, language } from '../language';

/** `PARTIALLY_COMPLETED` as people read it, in English. */
export function plainWordOf(constant: string): string {
  const text = constant.replaceAll('_', ' ').toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A constant of the API in the language of the pages; one without a message is told in English. */
export const wordOf = (constant: string): string => known(`word.${constant.toUpperCase()}`) ?? plainWordOf(constant);

/** The same inside of a sentence: German nouns keep their capital letters. */
export const innerWordOf = (constant: string): string => (language() === 'de' ? wordOf(constant) : wordOf(constant).toLowerCase());
