import type { Expr, Import, Span, Stmt, Suite } from './ast.js';
import { ExpressionLowering } from './lower-expression.js';
import { fieldOf, fieldsOf, namedChildren, type RawNode } from './raw-tree.js';

const MAX_DEPTH = 60;

/** Turns raw syntax nodes into the small statement syntax of `ast.ts`. */
export class StatementLowering {
  readonly #expressions: ExpressionLowering;
  #depth = 0;
  /** Parts that were nested too deeply to be read. */
  readonly unread: Span[] = [];

  constructor(source: string) {
    this.#expressions = new ExpressionLowering(source, this.unread);
  }

  suite(node: RawNode | undefined, owner: Stmt | undefined): Suite {
    const suite: Suite = { statements: [], owner };
    if (node === undefined) return suite;
    if (this.#depth >= MAX_DEPTH) {
      this.unread.push({ start: node.start, end: node.end });
      return suite;
    }
    this.#depth += 1;
    for (const child of namedChildren(node)) this.#statement(child, suite);
    this.#depth -= 1;
    return suite;
  }

  #statement(node: RawNode, suite: Suite): void {
    const at = { suite, start: node.start, end: node.end };
    const add = (statement: Stmt): void => {
      suite.statements.push(statement);
    };
    const named = namedChildren(node);
    switch (node.type) {
      case 'expression_statement':
        this.#simple(node, suite);
        return;
      case 'if_statement': {
        const branches: { test?: Expr; body: Suite }[] = [];
        const statement: Stmt = { type: 'if', branches, ...at };
        branches.push({
          test: this.#expression(fieldOf(node, 'condition')),
          body: this.suite(fieldOf(node, 'consequence'), statement),
        });
        for (const clause of fieldsOf(node, 'alternative')) {
          const test = fieldOf(clause, 'condition');
          const body = this.suite(fieldOf(clause, 'consequence') ?? fieldOf(clause, 'body'), statement);
          branches.push(test === undefined ? { body } : { test: this.#expression(test), body });
        }
        add(statement);
        return;
      }
      case 'for_statement':
      case 'while_statement':
      case 'try_statement':
      case 'with_statement':
        this.#compound(node, suite);
        return;
      case 'decorated_definition': {
        const definition = fieldOf(node, 'definition');
        const decorators = named
          .filter((child) => child.type === 'decorator')
          .map((child) => this.#expression(namedChildren(child)[0]));
        if (definition !== undefined) this.#definition(definition, suite, decorators, node.start);
        return;
      }
      case 'function_definition':
      case 'class_definition':
        this.#definition(node, suite, [], node.start);
        return;
      case 'return_statement': {
        const value = named[0];
        add({ type: 'return', ...(value === undefined ? {} : { value: this.#expression(value) }), ...at });
        return;
      }
      case 'import_statement':
      case 'import_from_statement':
      case 'future_import_statement':
        add(this.#imports(node, suite));
        return;
      case 'delete_statement':
        add({ type: 'delete', targets: this.#flatten(this.#expression(named[0])), ...at });
        return;
      case 'break_statement':
        add({ type: 'jump', keyword: 'break', ...at });
        return;
      case 'continue_statement':
        add({ type: 'jump', keyword: 'continue', ...at });
        return;
      case 'raise_statement':
        add({ type: 'jump', keyword: 'raise', ...at });
        return;
      case 'global_statement':
      case 'nonlocal_statement':
        add({
          type: 'global',
          names: named.map((child) => this.#expressions.text(child)),
          isOuter: node.type === 'nonlocal_statement',
          ...at,
        });
        return;
      case 'match_statement': {
        const suites: Suite[] = [];
        const parts = fieldsOf(node, 'subject').map((child) => this.#expression(child));
        const statement: Stmt = { type: 'other', parts, suites, error: false, ...at };
        const body = fieldOf(node, 'body') ?? node;
        for (const clause of namedChildren(body)) {
          if (clause.type !== 'case_clause') continue;
          const inner = this.suite(fieldOf(clause, 'consequence'), statement);
          // What a pattern binds is a part of what is matched, whichever.
          const at = { suite: inner, start: clause.start, end: clause.end };
          const value: Expr = { type: 'other', parts, start: node.start, end: node.start };
          const bound = this.#captured(clause);
          const guard = fieldOf(clause, 'guard');
          if (guard !== undefined) {
            const test = this.#expression(namedChildren(guard)[0]);
            inner.statements.unshift({ type: 'expression', value: test, ...at });
          }
          if (bound.length > 0) inner.statements.unshift({ type: 'assign', targets: bound, value, ...at });
          suites.push(inner);
        }
        add(statement);
        return;
      }
      case 'ERROR':
        add({ type: 'other', parts: [], suites: [], error: true, ...at });
        for (const child of named) {
          if (/_statement$|_definition$/.test(child.type)) this.#statement(child, suite);
        }
        return;
      default:
        add({
          type: 'other',
          parts: named.map((child) => this.#expression(child)),
          suites: [],
          error: false,
          ...at,
        });
    }
  }

  /** Names that the patterns of a case bind, as far as patterns go before its guard and its code. */
  #captured(clause: RawNode): Expr[] {
    const names: Expr[] = [];
    const open = clause.children.filter((child) => child.type === 'case_pattern');
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (next.type === 'identifier') names.push(this.#expression(next));
      for (const child of next.children) open.push(child);
    }
    return names;
  }

  #simple(node: RawNode, suite: Suite): void {
    const at = { suite, start: node.start, end: node.end };
    const named = namedChildren(node);
    const only = named[0];
    if (named.length === 1 && only?.type === 'assignment') {
      const targets: Expr[] = [];
      let current: RawNode = only;
      for (;;) {
        const left = fieldOf(current, 'left');
        const right = fieldOf(current, 'right');
        if (left !== undefined) targets.push(this.#expression(left));
        if (right === undefined) return;
        if (right.type !== 'assignment') {
          suite.statements.push({ type: 'assign', targets, value: this.#expression(right), ...at });
          return;
        }
        current = right;
      }
    }
    if (named.length === 1 && only?.type === 'augmented_assignment') {
      const operator = fieldOf(only, 'operator');
      suite.statements.push({
        type: 'augmented',
        target: this.#expression(fieldOf(only, 'left')),
        operator: operator === undefined ? '' : this.#expressions.text(operator).replace(/=$/, ''),
        value: this.#expression(fieldOf(only, 'right')),
        ...at,
      });
      return;
    }
    for (const child of named) {
      suite.statements.push({ type: 'expression', value: this.#expression(child), ...at });
    }
  }

  #compound(node: RawNode, suite: Suite): void {
    const at = { suite, start: node.start, end: node.end };
    const clauseBody = (clause: RawNode): RawNode | undefined =>
      fieldOf(clause, 'body') ?? namedChildren(clause).findLast((child) => child.type === 'block');
    const clauses = (pattern: RegExp): RawNode[] => node.children.filter((child) => pattern.test(child.type));
    const build = (make: (suiteOf: (part: RawNode | undefined) => Suite) => Stmt): void => {
      const suites: Suite[] = [];
      const statement = make((part) => {
        const made = this.suite(part, undefined);
        suites.push(made);
        return made;
      });
      for (const made of suites) made.owner = statement;
      suite.statements.push(statement);
    };
    const orelse = clauses(/^else_clause$/)[0];
    if (node.type === 'for_statement') {
      build((of) => ({
        type: 'for',
        target: this.#expression(fieldOf(node, 'left')),
        iterable: this.#expression(fieldOf(node, 'right')),
        body: of(fieldOf(node, 'body')),
        ...(orelse === undefined ? {} : { orelse: of(clauseBody(orelse)) }),
        ...at,
      }));
    } else if (node.type === 'while_statement') {
      build((of) => ({
        type: 'while',
        test: this.#expression(fieldOf(node, 'condition')),
        body: of(fieldOf(node, 'body')),
        ...(orelse === undefined ? {} : { orelse: of(clauseBody(orelse)) }),
        ...at,
      }));
    } else if (node.type === 'try_statement') {
      const final = clauses(/^finally_clause$/)[0];
      build((of) => ({
        type: 'try',
        body: of(fieldOf(node, 'body')),
        handlers: clauses(/^except/).map((clause) => of(clauseBody(clause))),
        ...(orelse === undefined ? {} : { orelse: of(clauseBody(orelse)) }),
        ...(final === undefined ? {} : { final: of(clauseBody(final)) }),
        ...at,
      }));
    } else {
      const items: { value: Expr; target?: Expr }[] = [];
      const collect = (part: RawNode): void => {
        for (const child of namedChildren(part)) {
          if (child.type === 'with_item') {
            const value = fieldOf(child, 'value');
            const target = value?.type === 'as_pattern' ? fieldOf(value, 'alias') : undefined;
            items.push(
              target === undefined
                ? { value: this.#expression(value) }
                : {
                    value: this.#expression(value === undefined ? undefined : namedChildren(value)[0]),
                    target: this.#expression(target),
                  },
            );
          } else if (child.type === 'with_clause') collect(child);
        }
      };
      collect(node);
      build((of) => ({ type: 'with', items, body: of(fieldOf(node, 'body')), ...at }));
    }
  }

  #definition(node: RawNode, suite: Suite, decorators: Expr[], start: number): void {
    const at = { suite, start, end: node.end };
    const nameNode = fieldOf(node, 'name');
    const name = nameNode === undefined ? '' : this.#expressions.text(nameNode);
    const body = this.suite(fieldOf(node, 'body'), undefined);
    const statement: Stmt =
      node.type === 'class_definition'
        ? {
            type: 'class',
            name,
            bases: this.#expressions
              .arguments(fieldOf(node, 'superclasses'))
              .filter((argument) => argument.name === undefined)
              .map((argument) => argument.value),
            body,
            decorators,
            ...at,
          }
        : {
            type: 'function',
            name,
            params: this.#expressions.parameters(fieldOf(node, 'parameters')),
            body,
            decorators,
            ...at,
          };
    body.owner = statement;
    suite.statements.push(statement);
  }

  #imports(node: RawNode, suite: Suite): Import {
    const text = (part: RawNode): string => this.#expressions.text(part).replaceAll(/\s/g, '');
    const moduleNode = fieldOf(node, 'module_name');
    const from = moduleNode === undefined ? undefined : text(moduleNode);
    const bindings: { name: string; path: string }[] = [];
    for (const child of fieldsOf(node, 'name')) {
      const target = fieldOf(child, 'name') ?? child;
      const alias = fieldOf(child, 'alias');
      const dotted = text(target);
      const path = from === undefined ? dotted : `${from}.${dotted}`;
      if (alias !== undefined) bindings.push({ name: text(alias), path });
      else if (from !== undefined) bindings.push({ name: dotted, path });
      else {
        const root = dotted.split('.')[0] ?? dotted;
        bindings.push({ name: root, path: root });
      }
    }
    const star = node.children.some((child) => child.type === 'wildcard_import');
    return {
      type: 'import',
      bindings,
      ...(star && from !== undefined ? { star: from } : {}),
      suite,
      start: node.start,
      end: node.end,
    };
  }

  #expression(node: RawNode | undefined): Expr {
    return this.#expressions.lower(node);
  }

  #flatten(expression: Expr): Expr[] {
    return expression.type === 'sequence' ? expression.items : [expression];
  }
}
