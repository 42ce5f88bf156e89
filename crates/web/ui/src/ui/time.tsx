import { createSignal, type JSX } from 'solid-js';
import { exactText, relativeText, times } from './times';

const TICK_MS = 15_000;

const [now, setNow] = createSignal(Date.now());
setInterval(() => document.visibilityState === 'visible' && setNow(Date.now()), TICK_MS);

const sinceText = (moment: string): string => relativeText(moment, Math.max(now(), Date.now() - TICK_MS));

/** A moment as the user wants times, with the other way in its title. */
export function Time(props: { of: string | null | undefined }): JSX.Element {
  const isRelative = () => times() === 'relative';
  return (
    <>
      {props.of ? (
        <time dateTime={props.of} title={isRelative() ? exactText(props.of) : sinceText(props.of)}>
          {isRelative() ? sinceText(props.of) : exactText(props.of)}
        </time>
      ) : (
        '–'
      )}
    </>
  );
}
