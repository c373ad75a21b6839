const vscode = require('vscode');
const { LanguageClient, TransportKind } = require('vscode-languageclient/node');

/** @type {LanguageClient | undefined} */
let client;

/** Starts `fleet lsp` in the folder of the workspace, for scripts, and for notebooks by their own protocol. */
exports.activate = async () => {
  const settings = vscode.workspace.getConfiguration('solutionFleet');
  const [command, ...args] = settings.get('command');
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  // The analysis reads no file of the workspace, but its own command is started from there.
  const options = { ...(folder === undefined ? {} : { cwd: folder }), shell: process.platform === 'win32' };
  client = new LanguageClient(
    'solutionFleet',
    'solution-fleet',
    { command, args: [...args, 'lsp'], transport: TransportKind.stdio, options },
    {
      documentSelector: [
        { scheme: 'file', language: 'python' },
        { scheme: 'untitled', language: 'python' },
        { notebook: 'jupyter-notebook', language: 'python' },
      ],
      initializationOptions: { showNotFollowed: settings.get('showNotFollowed') },
    },
  );
  await client.start();
};

exports.deactivate = () => client?.stop();
