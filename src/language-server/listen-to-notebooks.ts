import type { Connection, NotebookDocuments } from 'vscode-languageserver/node';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { messageOf } from '../errors.js';

export interface NotebookListener {
  /** The cells of a notebook, their order or the text in them may be others. */
  changed(uri: string): void;
  /** A message of the editor cannot be followed, such as one about a cell that it has not opened. */
  failed(message: string): void;
}

/**
 * Has notebooks follow what the editor says of them. Their own event is not fired where cells are only moved, because an editor then
 * opens and closes none; and an error in them would end the process.
 */
export function listenToNotebooks(
  connection: Connection,
  notebooks: NotebookDocuments<TextDocument>,
  { changed, failed }: NotebookListener,
): void {
  const { synchronization } = connection.notebooks;
  /** A handler that waits for that of the notebooks, which is asynchronous. */
  const after =
    <T>(handle: (params: T) => void | Promise<void>, then: (params: T) => void = () => undefined) =>
    async (params: T) => {
      try {
        await handle(params);
        then(params);
      } catch (thrown) {
        failed(messageOf(thrown));
      }
    };
  const observed: typeof synchronization = {
    ...synchronization,
    onDidOpenNotebookDocument: (handle) => synchronization.onDidOpenNotebookDocument(after(handle)),
    onDidChangeNotebookDocument: (handle) =>
      synchronization.onDidChangeNotebookDocument(
        after(handle, ({ notebookDocument: { uri } }) => changed(uri)),
      ),
    onDidCloseNotebookDocument: (handle) => synchronization.onDidCloseNotebookDocument(after(handle)),
  };
  const feature: Connection['notebooks'] = Object.create(connection.notebooks, {
    synchronization: { value: observed },
  });
  notebooks.listen({ ...connection, notebooks: feature });
}
