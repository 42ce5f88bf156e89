/** Leaves the wheel over a drawing to the page, as in the modelers; with Ctrl or Command it zooms the drawing. */
export function leaveWheelToPage(around: HTMLElement): void {
  const leave = (event: WheelEvent): void => {
    if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
  };
  around.addEventListener('wheel', leave, { capture: true, passive: true });
}
