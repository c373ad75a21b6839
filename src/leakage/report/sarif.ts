import { REPORTED_KINDS, type ReportedFile, type ReportedKind } from './reported-file.js';

const SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json';
const LEVELS = { high: 'error', medium: 'warning', low: 'note' } as const;

export interface SarifLog {
  readonly $schema: string;
  readonly version: '2.1.0';
  readonly runs: readonly SarifRun[];
}
interface SarifRun {
  readonly tool: {
    readonly driver: {
      readonly name: string;
      readonly informationUri?: string;
      readonly rules: readonly SarifRule[];
    };
  };
  readonly columnKind: 'utf16CodeUnits';
  readonly invocations: readonly [
    {
      /** False if a file could not be checked. */
      readonly executionSuccessful: boolean;
      readonly toolExecutionNotifications: readonly SarifNotification[];
    },
  ];
  readonly results: readonly SarifResult[];
  readonly properties?: object;
}
interface SarifNotification {
  readonly level: 'error' | 'warning';
  readonly message: { readonly text: string };
  readonly locations: readonly {
    readonly physicalLocation: {
      readonly artifactLocation: { readonly uri: string };
      readonly region?: { readonly startLine: number };
    };
  }[];
}
interface SarifRule {
  readonly id: string;
  readonly name: string;
  readonly shortDescription: { readonly text: string };
  readonly help: { readonly text: string };
  readonly defaultConfiguration: { readonly level: 'error' | 'warning' | 'note' };
}
interface SarifResult {
  readonly ruleId: string;
  readonly ruleIndex: number;
  readonly level: 'error' | 'warning' | 'note';
  readonly message: { readonly text: string };
  readonly locations: readonly {
    readonly physicalLocation: {
      readonly artifactLocation: { readonly uri: string };
      readonly region: { readonly startLine: number; readonly endLine: number };
    };
  }[];
}

/**
 * Findings as a SARIF 2.1.0 log (OASIS standard), for code scanning and editors. One run; a rule for every kind
 * of leak, whether found or not, so that rule indices do not change from run to run.
 * @param properties The run's own properties, for instance totals.
 */
export function toSarif(files: readonly ReportedFile[], properties?: object): SarifLog {
  const kinds = Object.keys(REPORTED_KINDS) as ReportedKind[];
  const rules = kinds.map((kind): SarifRule => {
    const { title, whatToDo, severity } = REPORTED_KINDS[kind];
    return {
      id: `leakage/${kind}`,
      name: pascalCase(kind),
      shortDescription: { text: `${title.charAt(0).toUpperCase()}${title.slice(1)}.` },
      help: { text: whatToDo },
      defaultConfiguration: { level: LEVELS[severity] },
    };
  });
  const results = files.flatMap(({ file, findings }) =>
    findings.map(
      (finding): SarifResult => ({
        ruleId: `leakage/${finding.kind}`,
        ruleIndex: kinds.indexOf(finding.kind),
        level: LEVELS[finding.severity],
        message: { text: finding.message },
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: toUri(file) },
              region: { startLine: finding.line, endLine: finding.endLine },
            },
          },
        ],
      }),
    ),
  );
  const notifications = files.flatMap(({ file, notices = [] }) =>
    notices.map(
      ({ level, line, message }): SarifNotification => ({
        level,
        message: { text: message },
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: toUri(file) },
              ...(line === undefined ? {} : { region: { startLine: line } }),
            },
          },
        ],
      }),
    ),
  );
  return {
    $schema: SCHEMA,
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'solution-fleet', rules } },
        columnKind: 'utf16CodeUnits',
        invocations: [
          {
            executionSuccessful: notifications.every(({ level }) => level !== 'error'),
            toolExecutionNotifications: notifications,
          },
        ],
        results,
        ...(properties === undefined ? {} : { properties }),
      },
    ],
  };
}

function pascalCase(kind: string): string {
  return kind.replaceAll(/(^|-)(\w)/g, (_match, _dash: string, letter: string) => letter.toUpperCase());
}

/** A relative path as a URI reference: forward slashes, everything else percent-encoded where it must be. */
function toUri(file: string): string {
  return file
    .replaceAll('\\', '/')
    .split('/')
    .map((part) => encodeURIComponent(part.replace(/\p{Surrogate}/gu, '\uFFFD')).replaceAll('%3A', ':'))
    .join('/');
}
