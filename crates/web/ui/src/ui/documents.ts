// Documents: sent, named in variables by a reference, shown and fetched.
import { createDocuments, getDocument } from '../api/generated/operations';
import type { DocumentReference } from '../api/generated/types';
import { call, send } from '../api/http';
import { t } from '../language';

const TYPE = 'camunda.document.type';

export const isDocument = (value: unknown): value is DocumentReference =>
  typeof value === 'object' && value !== null && TYPE in value && typeof (value as DocumentReference).documentId === 'string' && typeof (value as DocumentReference).metadata === 'object';

/** All documents that values refer to, at any depth. */
export function documentsIn(value: unknown): DocumentReference[] {
  const found: DocumentReference[] = [];
  const left = [value];
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    if (isDocument(one)) found.push(one);
    else if (typeof one === 'object' && one !== null) left.push(...Object.values(one).reverse());
  }
  return found;
}

/** The address of a document: it is told as a file to keep, never as a page. */
export function documentPath(of: DocumentReference): string {
  const query = new URLSearchParams({ storeId: of.storeId });
  if (of.contentHash) query.set('contentHash', of.contentHash);
  return `/v2/documents/${encodeURIComponent(of.documentId)}?${query}`;
}

/** Sends files; all are taken, or the error names the one that is not. */
export async function sendFiles(files: readonly File[]): Promise<DocumentReference[]> {
  const body = new FormData();
  for (const file of files) body.append('files', file, file.name);
  const { createdDocuments, failedDocuments } = await call(createDocuments, { body: body as never });
  const [failed] = failedDocuments;
  if (failed) throw new Error(t('documents.refused', { name: failed.fileName, reason: failed.detail || failed.title }));
  return createdDocuments;
}

/** Types that are shown here: pictures and plain text. Pages and drawings with scripts never are. */
const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/bmp'];
const TEXTS = ['text/plain', 'text/csv', 'text/markdown', 'application/json'];
const essence = (of: DocumentReference): string => (of.metadata.contentType ?? '').split(';')[0]!.trim().toLowerCase();
export const canShow = (of: DocumentReference): boolean => PICTURES.includes(essence(of)) || TEXTS.includes(essence(of));

const TEXT_BYTES_MAX = 200_000;

/** The content to show of a document: an address of the browser's own for a picture, or text. */
export async function preview(of: DocumentReference): Promise<{ picture: string } | { text: string; isCut: boolean }> {
  const blob = await (await send({ ...getDocument, path: documentPath(of), accept: '*/*' })).blob();
  if (PICTURES.includes(essence(of))) return { picture: URL.createObjectURL(new Blob([blob], { type: essence(of) })) };
  return { text: await blob.slice(0, TEXT_BYTES_MAX).text(), isCut: blob.size > TEXT_BYTES_MAX };
}
