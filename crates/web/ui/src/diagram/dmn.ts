// The one place that knows dmn-js. It loads with the first decision.
import DmnViewer from 'dmn-js/lib/NavigatedViewer';
import 'dmn-js/dist/assets/diagram-js.css';
import 'dmn-js/dist/assets/dmn-js-shared.css';
import 'dmn-js/dist/assets/dmn-js-drd.css';
import 'dmn-js/dist/assets/dmn-js-decision-table.css';
import 'dmn-js/dist/assets/dmn-js-literal-expression.css';
import 'dmn-js/dist/assets/dmn-js-boxed-expression.css';

interface View {
  type: string;
  element: { id: string };
}

export class Decision {
  private readonly viewer: InstanceType<typeof DmnViewer>;

  constructor(private readonly container: HTMLElement) {
    this.viewer = new DmnViewer({ container });
  }

  /** Draws the table or the expression of a decision. */
  async draw(xml: string, decisionId: string): Promise<void> {
    await this.viewer.importXML(xml);
    const views = this.viewer.getViews() as View[];
    const view = views.find((one) => one.element.id === decisionId && one.type !== 'drd') ?? views[0];
    if (view) await this.viewer.open(view as never);
  }

  /** Marks rows of the table. */
  mark(ruleIds: Iterable<string>): void {
    const wanted = new Set(ruleIds);
    for (const cell of this.container.querySelectorAll<HTMLElement>('[data-row-id]')) {
      cell.closest('tr')?.classList.toggle('matched', wanted.has(cell.dataset['rowId'] ?? ''));
    }
  }

  destroy(): void {
    this.viewer.destroy();
  }
}
