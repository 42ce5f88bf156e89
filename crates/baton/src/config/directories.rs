//! Directories that the server writes.

use std::path::PathBuf;

use super::Config;
use super::value::{DocumentStoreKind, StorageKind};

impl Config {
    /// Directories of documents.
    pub(crate) fn document_directories(&self) -> Vec<PathBuf> {
        let others = self.documents.stores.resolved(self).into_iter().filter_map(|(_, config)| config.ok());
        let first = self.first_document_directory();
        first.into_iter().chain(others.filter_map(|config| config.first_document_directory())).collect()
    }

    fn first_document_directory(&self) -> Option<PathBuf> {
        (self.documents.kind == DocumentStoreKind::Directory)
            .then(|| self.data.directory.join(&self.documents.directory))
    }

    /// All directories and files of the server, those outside the data directory included.
    pub(crate) fn own_directories(&self) -> Vec<PathBuf> {
        let data = &self.data.directory;
        let mut others = self.document_directories();
        if self.export_ndjson.enabled {
            others.push(data.join(&self.export_ndjson.directory));
        }
        others.extend(self.backup.directory.clone());
        if self.secondary_storage.kind == StorageKind::Sqlite {
            let file = data.join(&self.secondary_storage_sqlite.path);
            others.extend(["", "-wal", "-shm"].map(|end| {
                let mut name = file.clone().into_os_string();
                name.push(end);
                name.into()
            }));
        }
        others.retain(|path| !path.starts_with(data));
        others.insert(0, data.clone());
        others
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::with;

    #[test]
    fn what_is_outside_the_data_directory_is_named_apart() {
        let file = "{data: {directory: /d}, backup: {directory: /b}, export: {ndjson: {enabled: true}}, \
                    secondary_storage: {sqlite: {path: /s/history}}, \
                    documents: {stores: 'more kind=directory directory=/m'}}";
        let config = with(file, &[], &[]).unwrap();
        let shown = |paths: Vec<std::path::PathBuf>| {
            paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown(config.own_directories()), "/d /m /b /s/history /s/history-wal /s/history-shm");
        assert_eq!(shown(config.document_directories()), "/d/documents /m");
    }
}
