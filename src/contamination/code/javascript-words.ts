const words = (list: string): ReadonlySet<string> => new Set(list.trim().split(/\s+/));

export const JAVASCRIPT_KEYWORDS = words(`
  break case catch class const continue debugger default delete do else export extends false finally for function
  if import in instanceof let new null of return static super switch this throw true try typeof undefined var void
  while with yield await
`);

/** Words that are keywords only where a name follows them on the same line. */
export const JAVASCRIPT_CONTEXTUAL = words(`
  async get set of interface type enum implements private protected public readonly abstract declare namespace as
  satisfies keyof is infer
`);

/** Words that change what a program offers or how it is typed, not what it does. */
export const JAVASCRIPT_MODIFIERS = words(`
  export default public private protected readonly abstract declare
`);

/** Names that a copier cannot rename: the language or its usual hosts give them. */
export const JAVASCRIPT_BUILTINS = words(`
  Array Object String Number Boolean Symbol BigInt Map Set WeakMap WeakSet Date RegExp Math JSON Promise Proxy
  Reflect Error TypeError RangeError SyntaxError EvalError Infinity NaN parseInt parseFloat isNaN isFinite
  encodeURIComponent decodeURIComponent globalThis console process require module exports __dirname __filename
  Buffer setTimeout clearTimeout setInterval clearInterval setImmediate queueMicrotask structuredClone fetch
  window document arguments constructor Uint8Array Uint16Array Uint32Array Int8Array Int16Array Int32Array
  Float32Array Float64Array ArrayBuffer DataView URL URLSearchParams AbortController Event EventTarget
  string number boolean any unknown never object bigint symbol Record Partial Readonly ReadonlyArray Pick Omit
  describe it test expect
`);

/** Property and method names of the standard library and of Node's. */
export const JAVASCRIPT_ATTRIBUTES = words(`
  length push pop shift unshift slice splice concat join reverse sort indexOf lastIndexOf includes find findIndex
  findLast findLastIndex filter map reduce reduceRight forEach some every fill flat flatMap keys values entries
  from of isArray at copyWithin toSorted toReversed with
  charAt charCodeAt codePointAt fromCharCode fromCodePoint split substring substr replace replaceAll match
  matchAll search toLowerCase toUpperCase trim trimStart trimEnd padStart padEnd repeat startsWith endsWith
  localeCompare normalize concat raw
  get set has add delete clear size next done value return throw
  floor ceil round abs max min pow sqrt cbrt random trunc sign log log2 log10 exp sin cos tan atan2 hypot PI E
  MAX_SAFE_INTEGER MIN_SAFE_INTEGER MAX_VALUE MIN_VALUE EPSILON isInteger isSafeInteger isNaN isFinite toFixed
  toString valueOf hasOwnProperty prototype constructor call apply bind name message stack
  assign create freeze fromEntries defineProperty getPrototypeOf setPrototypeOf getOwnPropertyNames
  parse stringify then catch finally resolve reject all race allSettled any
  log error warn info table test exec lastIndex source flags index groups
  getTime getFullYear getMonth getDate getDay getHours getMinutes getSeconds toISOString now
  exports argv env exit stdin stdout stderr write read on once emit removeListener readFileSync writeFileSync
  existsSync readdirSync join dirname basename promises readFile writeFile createHash digest update
  addEventListener querySelector querySelectorAll getElementById innerHTML textContent createElement appendChild
  iterator asyncIterator toPrimitive species
`);
