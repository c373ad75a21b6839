import type { InitializeParams } from 'vscode-languageserver/node';
import { z } from 'zod';

/** What the editor understands, and what its user asked for. */
export interface ClientAbilities {
  readonly relatedInformation: boolean;
  /** Whether edits may name the version of the document that they are for. */
  readonly versionedEdits: boolean;
  readonly markdown: boolean;
  /** Whether code that the analysis could not follow is shown. */
  readonly showNotFollowed: boolean;
}

const OptionsSchema = z
  .object({ showNotFollowed: z.boolean().catch(false) })
  .catch({ showNotFollowed: false });

export function abilitiesOf({ capabilities, initializationOptions }: InitializeParams): ClientAbilities {
  const { textDocument, workspace } = capabilities;
  return {
    relatedInformation: textDocument?.publishDiagnostics?.relatedInformation === true,
    versionedEdits: workspace?.workspaceEdit?.documentChanges === true,
    markdown: textDocument?.hover?.contentFormat?.includes('markdown') === true,
    showNotFollowed: OptionsSchema.parse(initializationOptions ?? {}).showNotFollowed,
  };
}
