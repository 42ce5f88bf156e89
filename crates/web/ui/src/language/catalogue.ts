// A message is a text with places for values, such as `{name}`. English says which messages there are.
import type { en } from './en';

export type Key = keyof typeof en;

/** Names of the places in a message. */
type Places<Text extends string> = Text extends `${string}{${infer Place}}${infer Rest}` ? Place | Places<Rest> : never;
export type Values<K extends Key> = Record<Places<(typeof en)[K]>, string | number>;

/** The same message, if it has the same places. */
type Same<Text, K extends Key> = Text extends string
  ? [Places<Text>, Places<(typeof en)[K]>] extends [Places<(typeof en)[K]>, Places<Text>]
    ? Text
    : never
  : never;

/** The messages of another language: all of them, no others, each with the places that English has. */
export const catalogue = <const Messages extends Record<string, string>>(
  messages: Messages & { [K in keyof Messages]: K extends Key ? Same<Messages[K], K> : never } & { [K in Exclude<Key, keyof Messages>]: string },
): Record<Key, string> => messages as unknown as Record<Key, string>;
