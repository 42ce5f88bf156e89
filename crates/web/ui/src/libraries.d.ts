// Libraries that come without types: as much of them as is used.
declare module 'bpmn-auto-layout' {
  export function layoutProcess(xml: string): Promise<string>;
}
declare module 'dmn-js/lib/NavigatedViewer' {
  export default class Viewer {
    constructor(options: { container: HTMLElement });
    importXML(xml: string): Promise<unknown>;
    getViews(): unknown[];
    open(view: never): Promise<unknown>;
    destroy(): void;
  }
}
/** Licence texts of what is built in; `vite.config.ts` makes them of the lock file. */
declare module 'virtual:licences' {
  const licences: { licence: string; packages: string[]; text: string }[];
  export default licences;
}

declare module 'bpmn-js-differ' {
  interface Part {
    $type: string;
    id: string;
    name?: string;
  }
  export function diff(
    before: unknown,
    after: unknown,
  ): {
    _added: Record<string, Part>;
    _removed: Record<string, Part>;
    _changed: Record<string, { model: Part; attrs: Record<string, { oldValue: unknown; newValue: unknown }> }>;
    _layoutChanged: Record<string, Part>;
  };
}
