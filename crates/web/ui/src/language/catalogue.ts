// A message is a text with places for values, such as `{name}`. English says which messages there are: those of the frame
// and of what pages share in `en.ts`, the others in a file for each part of the application that pages load when they need it.
import type admin from './areas/admin';
import type change from './areas/change';
import type history from './areas/history';
import type instance from './areas/instance';
import type lists from './areas/lists';
import type log from './areas/log';
import type login from './areas/login';
import type models from './areas/models';
import type overview from './areas/overview';
import type problems from './areas/problems';
import type tasks from './areas/tasks';
import type words from './areas/words';
import type { en } from './en';

type English = typeof en & typeof admin & typeof change & typeof history & typeof instance & typeof lists & typeof log & typeof login & typeof models & typeof overview & typeof problems & typeof tasks & typeof words;
export type Key = keyof English;

/** Names of the places in a message. */
type Places<Text extends string> = Text extends `${string}{${infer Place}}${infer Rest}` ? Place | Places<Rest> : never;
export type Values<K extends Key> = Record<Places<English[K]>, string | number>;

/** The same message, if it has the same places. */
type Same<Text, Original> = Text extends string
  ? Original extends string
    ? [Places<Text>, Places<Original>] extends [Places<Original>, Places<Text>]
      ? Text
      : never
    : never
  : never;

/** The messages of another language: all of them, no others, each with the places that English has. */
export const catalogue =
  <Original extends Record<string, string>>() =>
  <const Messages extends Record<string, string>>(
    messages: Messages & { [K in keyof Messages]: K extends keyof Original ? Same<Messages[K], Original[K]> : never } & { [K in Exclude<keyof Original, keyof Messages>]: string },
  ): Record<keyof Original, string> =>
    messages as unknown as Record<keyof Original, string>;
