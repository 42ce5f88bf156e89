// Files that were dropped, with those of folders.

/** A folder may have anything below it: so many files are looked at. */
const ENTRIES_MAX = 5000;

export interface Dropped {
  files: File[];
  /** Names of folders in which nothing was wanted. */
  empty: string[];
}

const fileOf = (entry: FileSystemFileEntry): Promise<File> => new Promise((done, failed) => entry.file(done, failed));

/** A folder tells its entries in parts, until there are none left. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((done, failed) => reader.readEntries(done, failed));
    if (some.length === 0) return all;
    all.push(...some);
  }
}

async function below(folder: FileSystemDirectoryEntry, isWanted: (name: string) => boolean): Promise<File[]> {
  const files: File[] = [];
  const rest: FileSystemEntry[] = await entriesOf(folder);
  for (let seen = 0; rest.length > 0 && seen < ENTRIES_MAX; seen += 1) {
    const entry = rest.shift()!;
    if (entry.isDirectory) rest.push(...(await entriesOf(entry as FileSystemDirectoryEntry)));
    else if (isWanted(entry.name)) files.push(await fileOf(entry as FileSystemFileEntry));
  }
  return files;
}

/** What was dropped: files as they are, and of folders those that are wanted. Entries are to be asked for before anything is awaited. */
export async function dropped(transfer: DataTransfer, isWanted: (name: string) => boolean): Promise<Dropped> {
  const plain = [...transfer.files];
  const entries = [...transfer.items].map((item) => (item.kind === 'file' ? item.webkitGetAsEntry() : null)).filter((entry) => entry !== null);
  const folders = entries.filter((entry) => entry.isDirectory) as FileSystemDirectoryEntry[];
  if (folders.length === 0) return { files: plain, empty: [] };
  const names = new Set(folders.map(({ name }) => name));
  const found: Dropped = { files: plain.filter(({ name }) => !names.has(name)), empty: [] };
  for (const folder of folders) {
    const files = await below(folder, isWanted);
    if (files.length === 0) found.empty.push(folder.name);
    found.files.push(...files);
  }
  return found;
}
