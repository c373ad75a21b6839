import type { Argument, ComprehensionClause, Expr, Parameter, Span } from './ast.js';
import { fieldOf, fieldsOf, namedChildren, type RawNode } from './raw-tree.js';

/** Deeper nesting than this is not followed: recursion must not exhaust the stack. */
const MAX_DEPTH = 150;

const NAMES: ReadonlySet<string> = new Set(['identifier', 'dotted_name', 'relative_import']);

/** Turns raw syntax nodes into the small expression syntax of `ast.ts`. */
export class ExpressionLowering {
  readonly #source: string;
  /** Takes the parts that are nested too deeply to be read. */
  readonly #unread: Span[];
  #depth = 0;

  constructor(source: string, unread: Span[]) {
    this.#source = source;
    this.#unread = unread;
  }

  text(node: RawNode): string {
    const text = this.#source.slice(node.start, node.end);
    // Python takes names for the same that have the same normal form.
    return NAMES.has(node.type) ? text.normalize('NFKC') : text;
  }

  lower(node: RawNode | undefined, fallbackAt = 0): Expr {
    if (node === undefined) return { type: 'other', parts: [], start: fallbackAt, end: fallbackAt };
    const span = { start: node.start, end: node.end };
    if (this.#depth >= MAX_DEPTH) {
      this.#unread.push(span);
      return { type: 'other', parts: [], ...span };
    }
    this.#depth += 1;
    const result = this.#dispatch(node, span);
    this.#depth -= 1;
    return result;
  }

  #dispatch(node: RawNode, span: { start: number; end: number }): Expr {
    const named = namedChildren(node);
    switch (node.type) {
      case 'identifier':
        return { type: 'name', id: this.text(node), ...span };
      case 'integer':
      case 'float':
        return this.#number(node, span);
      case 'true':
      case 'false':
        return { type: 'constant', value: node.type === 'true', ...span };
      case 'none':
        return { type: 'constant', value: null, ...span };
      case 'string':
        return this.#string(node, span);
      case 'concatenated_string':
        return this.#joined(
          named.map((part) => this.lower(part)),
          span,
        );
      case 'attribute': {
        const name = fieldOf(node, 'attribute');
        return {
          type: 'attribute',
          object: this.lower(fieldOf(node, 'object'), node.start),
          name: name === undefined ? '' : this.text(name),
          ...span,
        };
      }
      case 'subscript': {
        const indices = fieldsOf(node, 'subscript').map((index) => this.lower(index));
        const only = indices[0];
        const spread = indices.length === 1 && only?.type === 'sequence' && only.form === 'tuple';
        return {
          type: 'subscript',
          object: this.lower(fieldOf(node, 'value'), node.start),
          indices: spread ? only.items : indices,
          ...span,
        };
      }
      case 'slice':
        return this.#slice(node, span);
      case 'call':
        return {
          type: 'call',
          callee: this.lower(fieldOf(node, 'function'), node.start),
          args: this.arguments(fieldOf(node, 'arguments')),
          ...span,
        };
      case 'tuple':
      case 'expression_list':
      case 'pattern_list':
      case 'tuple_pattern':
        return { type: 'sequence', form: 'tuple', items: named.map((item) => this.lower(item)), ...span };
      case 'list':
      case 'list_pattern':
        return { type: 'sequence', form: 'list', items: named.map((item) => this.lower(item)), ...span };
      case 'set':
        return { type: 'sequence', form: 'set', items: named.map((item) => this.lower(item)), ...span };
      case 'dictionary':
        return {
          type: 'dictionary',
          entries: named.map((entry) =>
            entry.type === 'pair'
              ? { key: this.lower(fieldOf(entry, 'key')), value: this.lower(fieldOf(entry, 'value')) }
              : { value: this.lower(namedChildren(entry)[0], entry.start) },
          ),
          ...span,
        };
      case 'binary_operator':
      case 'boolean_operator': {
        const operator = fieldOf(node, 'operator');
        return {
          type: 'binary',
          operator: operator === undefined ? '' : this.text(operator),
          left: this.lower(fieldOf(node, 'left'), node.start),
          right: this.lower(fieldOf(node, 'right'), node.end),
          ...span,
        };
      }
      case 'not_operator':
        return { type: 'unary', operator: 'not', operand: this.lower(fieldOf(node, 'argument')), ...span };
      case 'unary_operator': {
        const operator = fieldOf(node, 'operator');
        const operand = this.lower(fieldOf(node, 'argument'));
        const sign = operator === undefined ? '' : this.text(operator);
        if (sign === '-' && operand.type === 'constant' && typeof operand.value === 'number') {
          return { type: 'constant', value: -operand.value, ...span };
        }
        return { type: 'unary', operator: sign, operand, ...span };
      }
      case 'comparison_operator':
        return {
          type: 'compare',
          operators: node.children
            .filter((child) => child.field === 'operators')
            .map((child) => this.text(child)),
          operands: node.children
            .filter((child) => child.field !== 'operators' && child.named)
            .map((child) => this.lower(child)),
          ...span,
        };
      case 'lambda':
        return {
          type: 'lambda',
          params: this.parameters(fieldOf(node, 'parameters')),
          body: this.lower(fieldOf(node, 'body'), node.end),
          ...span,
        };
      case 'list_comprehension':
      case 'set_comprehension':
      case 'generator_expression':
      case 'dictionary_comprehension':
        return this.#comprehension(node, span);
      case 'conditional_expression':
        return {
          type: 'conditional',
          whenTrue: this.lower(named[0], node.start),
          test: this.lower(named[1], node.start),
          whenFalse: this.lower(named[2], node.start),
          ...span,
        };
      case 'parenthesized_expression':
        return this.lower(named[0], node.start);
      case 'list_splat':
      case 'list_splat_pattern':
        return { type: 'starred', value: this.lower(named[0], node.start), ...span };
      case 'named_expression':
        return {
          type: 'walrus',
          target: this.lower(fieldOf(node, 'name'), node.start),
          value: this.lower(fieldOf(node, 'value'), node.end),
          ...span,
        };
      case 'await':
      case 'as_pattern_target':
        return this.lower(named[0], node.start);
      default:
        return { type: 'other', parts: named.map((child) => this.lower(child)), ...span };
    }
  }

  /** A number, where it is one here as well: not `1j`, and no integer beyond those that a double holds. */
  #number(node: RawNode, span: Span): Expr {
    const value = Number(this.text(node).replaceAll('_', ''));
    const isKnown = !Number.isNaN(value) && (node.type === 'float' || Number.isSafeInteger(value));
    return isKnown ? { type: 'constant', value, ...span } : { type: 'other', parts: [], ...span };
  }

  #string(node: RawNode, span: Span): Expr {
    const parts: Expr[] = [];
    const prefix = /^[A-Za-z]*/.exec(this.#source.slice(node.start, node.start + 3))?.[0].toLowerCase() ?? '';
    for (const child of node.children) {
      const at = { start: child.start, end: child.end };
      if (child.type === 'string_content') {
        const value = this.text(child);
        // Bytes equal no text, and an escape stands for another sign.
        const isPlain = !prefix.includes('b') && (prefix.includes('r') || !value.includes('\\'));
        parts.push(isPlain ? { type: 'constant', value, ...at } : { type: 'other', parts: [], ...at });
      } else if (child.type === 'interpolation') {
        const inner = namedChildren(child);
        const value = fieldOf(child, 'expression') ?? inner[0];
        // `{x!r:>{width}}` is another text than that of x.
        parts.push(
          inner.length > 1
            ? { type: 'other', parts: inner.map((part) => this.lower(part)), ...at }
            : this.lower(value, child.start),
        );
      }
    }
    return this.#joined(parts, span);
  }

  /** Parts of a string: one constant where all are constant. */
  #joined(parts: Expr[], span: { start: number; end: number }): Expr {
    let text = '';
    for (const part of parts) {
      if (part.type !== 'constant' || typeof part.value !== 'string') {
        return { type: 'formatted', parts, ...span };
      }
      text += part.value;
    }
    return { type: 'constant', value: text, ...span };
  }

  #slice(node: RawNode, span: { start: number; end: number }): Expr {
    const bounds: (Expr | undefined)[] = [undefined, undefined, undefined];
    let position = 0;
    for (const child of node.children) {
      if (child.type === ':') position += 1;
      else if (child.named) bounds[position] = this.lower(child);
    }
    const [lower, upper, step] = bounds;
    return {
      type: 'slice',
      ...(lower === undefined ? {} : { lower }),
      ...(upper === undefined ? {} : { upper }),
      ...(step === undefined ? {} : { step }),
      ...span,
    };
  }

  arguments(node: RawNode | undefined): Argument[] {
    if (node === undefined) return [];
    if (node.type !== 'argument_list') return [{ star: '', value: this.lower(node) }];
    return namedChildren(node).map((child): Argument => {
      const inner = namedChildren(child)[0];
      if (child.type === 'keyword_argument') {
        const name = fieldOf(child, 'name');
        const value = this.lower(fieldOf(child, 'value'), child.end);
        return { ...(name === undefined ? {} : { name: this.text(name) }), star: '', value };
      }
      if (child.type === 'list_splat') return { star: '*', value: this.lower(inner, child.start) };
      if (child.type === 'dictionary_splat') return { star: '**', value: this.lower(inner, child.start) };
      return { star: '', value: this.lower(child) };
    });
  }

  parameters(node: RawNode | undefined): Parameter[] {
    const result: Parameter[] = [];
    for (const child of node === undefined ? [] : namedChildren(node)) {
      const inner = fieldOf(child, 'name') ?? (child.type === 'identifier' ? child : namedChildren(child)[0]);
      if (inner === undefined || child.type.endsWith('_separator')) continue;
      const carrier = child.type === 'typed_parameter' ? inner : child;
      const star =
        carrier.type === 'list_splat_pattern' ? '*' : carrier.type === 'dictionary_splat_pattern' ? '**' : '';
      const identifier = inner.type.endsWith('_pattern') ? (namedChildren(inner)[0] ?? inner) : inner;
      const value = fieldOf(child, 'value');
      result.push({
        name: this.text(identifier),
        star,
        ...(value === undefined ? {} : { fallback: this.lower(value) }),
      });
    }
    return result;
  }

  #comprehension(node: RawNode, span: { start: number; end: number }): Expr {
    const body = fieldOf(node, 'body');
    const clauses: ComprehensionClause[] = [];
    for (const child of node.children) {
      if (child.type === 'for_in_clause') {
        clauses.push({
          target: this.lower(fieldOf(child, 'left'), child.start),
          iterable: this.lower(fieldOf(child, 'right'), child.end),
          conditions: [],
        });
      } else if (child.type === 'if_clause') {
        const condition = namedChildren(child)[0];
        if (condition !== undefined) clauses.at(-1)?.conditions.push(this.lower(condition));
      }
    }
    const form =
      node.type === 'list_comprehension'
        ? 'list'
        : node.type === 'set_comprehension'
          ? 'set'
          : node.type === 'dictionary_comprehension'
            ? 'dict'
            : 'generator';
    const isPair = body?.type === 'pair';
    return {
      type: 'comprehension',
      form,
      ...(isPair ? { key: this.lower(fieldOf(body, 'key'), body.start) } : {}),
      element: this.lower(isPair ? fieldOf(body, 'value') : body, node.start),
      clauses,
      ...span,
    };
  }
}
