/** The compiler's syntax trees, as openapi-typescript imports them: TypeScript 7 has no such interface. */
export { ts as default } from '@ts-morph/common';
