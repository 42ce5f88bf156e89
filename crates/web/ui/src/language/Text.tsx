import type { JSX } from 'solid-js';
import { type Key, t } from '.';
import type { Values } from './catalogue';

/** A message with elements, such as links and moments, at its places. */
export function Text<K extends Key>(props: { of: K; at: Record<keyof Values<K>, JSX.Element> }): JSX.Element {
  const parts = () => {
    const at = props.at as Record<string, JSX.Element>;
    // Every second part is the name of a place.
    return (t as (key: Key) => string)(props.of)
      .split(/\{(\w+)\}/)
      .map((part, index) => (index % 2 === 0 ? part : at[part]));
  };
  return <>{parts()}</>;
}
