import { onCleanup, onMount } from 'solid-js';

/** Brings what a click has opened into sight, once it is drawn: below a list, nobody would see that it came. */
export const intoSight = (place: HTMLElement): void => void requestAnimationFrame(() => place.scrollIntoView({ block: 'nearest' }));

/** Watches the place of a table. What is no wider than its place scrolls with the page, and so its head stays in sight; what
 * is wider scrolls by itself, in both directions. */
export function fit(place: HTMLElement): void {
  const look = () => {
    const isWide = place.scrollWidth > place.offsetWidth;
    place.classList.toggle('wide', isWide);
    place.classList.toggle('fits', !isWide);
  };
  // Not at once: what is changed then is watched, too.
  const watch = new ResizeObserver(() => requestAnimationFrame(look));
  onMount(() => {
    for (const one of [place, ...place.children]) watch.observe(one);
  });
  onCleanup(() => watch.disconnect());
}
