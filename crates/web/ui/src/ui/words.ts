/** `PARTIALLY_COMPLETED` as people read it. */
export function wordOf(constant: string): string {
  const text = constant.replaceAll('_', ' ').toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}
