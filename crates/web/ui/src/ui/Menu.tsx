// A button with a menu: what is seldom wanted opens over the page, and goes with Escape or a click elsewhere.
import { createSignal, createUniqueId, type JSX, Show } from 'solid-js';

const GAP_PX = 4;
const EDGE_PX = 8;

/** Lays the menu below its button, or above it in the lower half of the window, along the nearer edge. */
function lay(menu: HTMLElement, button: HTMLElement): void {
  const { top, bottom, left, right } = button.getBoundingClientRect();
  const { clientWidth, clientHeight } = document.documentElement;
  const isLow = top > clientHeight / 2;
  const isLeft = right < clientWidth / 2;
  menu.style.inset = [
    isLow ? 'auto' : `${bottom + GAP_PX}px`,
    isLeft ? 'auto' : `${Math.max(clientWidth - right, EDGE_PX)}px`,
    isLow ? `${clientHeight - top + GAP_PX}px` : 'auto',
    isLeft ? `${Math.max(left, EDGE_PX)}px` : 'auto',
  ].join(' ');
  menu.style.maxHeight = `${(isLow ? top : clientHeight - bottom) - GAP_PX - EDGE_PX}px`;
}

export function Menu(props: {
  /** What the button shows. */
  button: JSX.Element;
  /** The name of the button, for who can't see where it stands. */
  label?: string;
  class?: string;
  children: JSX.Element;
}): JSX.Element {
  const id = createUniqueId();
  let button!: HTMLButtonElement;
  let menu!: HTMLDivElement;
  // Rows of a long list have a menu each, of which few are ever opened.
  const [isUsed, setUsed] = createSignal(false);
  const onToggle = (event: ToggleEvent) => {
    const isOpen = event.newState === 'open';
    button.setAttribute('aria-expanded', String(isOpen));
    if (!isOpen) return;
    setUsed(true);
    lay(menu, button);
  };
  // A menu stays where it was laid: it would come off its button when the page scrolls, and over a dialog that it opens.
  const hide = () => menu.hidePopover();
  return (
    <>
      <button ref={button} type="button" class={props.class} aria-label={props.label} aria-expanded="false" popovertarget={id}>
        {props.button}
      </button>
      <div
        ref={(place) => {
          menu = place;
          place.addEventListener('beforetoggle', (event) => onToggle(event as ToggleEvent));
        }}
        id={id}
        popover="auto"
        class="menu"
        onClick={(event) => event.target instanceof Element && event.target.closest('button:not([aria-disabled="true"]), a') && hide()}
      >
        <Show when={isUsed()}>{props.children}</Show>
      </div>
    </>
  );
}
