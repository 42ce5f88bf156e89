import type { JSX } from 'solid-js';
import { clock } from './clock';
import { exactText, relativeText, times } from './times';

/** The clock is behind by its tick, and the server's may be ahead: what has happened is never told as to come. */
const sinceText = (moment: string, mayBeAhead: boolean): string => relativeText(moment, mayBeAhead ? clock() : Math.max(clock(), Date.parse(moment)));

/** A moment as the user wants times, with the other way in its title. `mayBeAhead` is for moments that are planned. */
export function Time(props: { of: string | null | undefined; mayBeAhead?: boolean }): JSX.Element {
  const isRelative = () => times() === 'relative';
  const since = (moment: string) => sinceText(moment, props.mayBeAhead ?? false);
  return (
    <>
      {props.of ? (
        <time dateTime={props.of} title={isRelative() ? exactText(props.of) : since(props.of)}>
          {isRelative() ? since(props.of) : exactText(props.of)}
        </time>
      ) : (
        '–'
      )}
    </>
  );
}
