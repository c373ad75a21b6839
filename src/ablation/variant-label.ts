import type { VariantKind } from './ablation-reading.js';

/** Reads parentheses from the right; those of a remark are side by side and none inside another. */
class Pairs {
  #isInside = false;
  #isBroken = false;

  /** Takes the sign to the left of those before. */
  take(sign: string): void {
    if (sign !== '(' && sign !== ')') return;
    if ((sign === ')') === this.#isInside) this.#isBroken = true;
    this.#isInside = sign === ')';
  }

  get complete(): boolean {
    return !this.#isInside && !this.#isBroken;
  }
}

/** A name without the remark in brackets at its end, as in `scaler (robust, see (2))`; the bracket may stay open. */
function withoutTrailingRemark(name: string): string {
  const asTheyAre = new Pairs();
  const withoutLast = new Pairs();
  let cut: number | undefined;
  for (let position = name.length - 1; position > 0; position -= 1) {
    const sign = name[position] ?? '';
    const opens = '([{'.includes(sign) && /\s/.test(name[position - 1] ?? '');
    if (opens && (asTheyAre.complete || withoutLast.complete)) cut = position;
    asTheyAre.take(sign);
    if (position < name.length - 1 || sign !== ')') withoutLast.take(sign);
  }
  return cut === undefined ? name : name.slice(0, cut).trimEnd();
}

export interface LabelReading {
  readonly role: 'baseline' | VariantKind | 'plain';
  /** What the label says was taken out, kept, replaced or added; for `plain` the whole label. */
  readonly component: string;
  /** The label without list signs, quotes and run numbers. */
  readonly text: string;
  /** How surely a baseline is one; 0 for other roles. */
  readonly certainty: 0 | 1 | 2;
  /** Number of an `Ablation 2`, lower case, as in `ablation 2`; the label may hold nothing else. */
  readonly number?: string;
  /** Whether the label names one fold, seed or repetition. */
  readonly isRun: boolean;
  /** Whether the label itself says that it is a variant or the baseline. */
  readonly isExplicit: boolean;
}

const ARTICLE =
  "(?:the |any |use of |using |der |die |das |den |dem |le |la |les |l'|el |los |las |il |gli |de |het )?";
const GAP = '[\\s_:=-]+';

const LIST_SIGN = /^\s*(?:[-*•·▪►▶>→✓✔✗✘❌✅⚠#=~]+|\d{1,2}[.)]|\([a-z0-9]\))\s+/iu;
const PROGRESS_SIGN = /^[[(]?\d+\s*(?:\/|of)\s*\d+[\])]?\s*[:.-]?\s*/;
const ACTIVITY =
  /^(?:now |starting |finished |completed |done |re-?)?(?:running|run|evaluating|evaluate|training|testing|trying|starting|finished|completed|done|processing|executing|fitting|scoring|results? (?:for|of)|scores? (?:for|of)|scenario|setting|config(?:uration)?|variant|experiment|modified|name)(?:\s*[:>-]\s*|\s+(?:with |for |of |on |the |ablation experiment |experiment |variant |configuration )*)/i;
/** `Ablation 2`, `Exp. #3`; a number after a word such as `model` counts only where the name ends there. */
const NUMBERED =
  /^(?:ablation|abl|experiment|exp|variant|config(?:uration)?|scenario|étude|versuch|variante|эксперимент|实验|消融|(?:study|setting|case|model|step|test|trial|run)(?=[\s_#.-]*(?:\d{1,3}|[A-H])(?:\s*(?:\/|of)\s*\d{1,3})?\s*(?:[:.)([–—|-]|$)))(?:[\s_#]*(?:study|experiment|run|test|variant))?[\s_#.-]*(?:n[o°º.]+ ?)?(\d{1,3}|[A-H](?![\p{L}\p{N}]))(?![\p{L}\p{N}])(?:\s*(?:\/|of)\s*\d{1,3})?/iu;
/** "If we drop X", "when removing X". */
const CONDITION = /^(?:if|when|once|after)\s+(?:(?:we|you|one|it is|i)\s+)?(?=\S)/i;
const BARE_ABLATION =
  /^(?:ablation|ablated|abl|消融)(?:\s+(?:study|experiment|run|test|variant|scenario|of))?(?:\s*[:>|-]\s*|\s*(?=[[('"])|[\s_]+)/iu;
const RUN =
  /(?<![\s,;|[(/_-])[\s,;|[(/_-]*(?:\bcv[\s_])?(?<![\p{L}])(?:fold|folds|split|seed|repeat|repetition|rep|pli|durchlauf|replica)[\s_#:=]*\d+(?:\s*(?:\/|of)\s*\d+)?[\])]?[\s,;|:_-]*/iu;

const REMOVED_BEFORE = new RegExp(
  `^(?:no|non|without(?: using)?|w/?o\\.?|w/out|minus|less|drop(?:ped|ping)?|remov(?:e|ed|es|ing|al of)|disabl(?:e|ed|es|ing)|exclud(?:e|ed|es|ing)|skip(?:ped|ping)?|omit(?:ted|ting)?|ablat(?:e|ed|ing)|delet(?:e|ed|ing)|eliminat(?:e|ed|ing)|turn(?:ed|ing)? off|switch(?:ed|ing)? off|leav(?:e|ing) out|lacking|missing|not using|not|sans|ohne|keine?|keinen|sin|senza|sem|zonder|geen|uten|utan|uden|bez|brak|nélkül|fără|без|χωρίς|retrait (?:de|du|des)|suppression (?:de|du|des))${GAP}${ARTICLE}(?=\\S)`,
  'iu',
);
const REMOVED_BEFORE_CJK =
  /^(?:无|無|不使用|不用|不含|没有|沒有|去掉|去除|移除|除去|删除|禁用|取消)\s*[:：]?\s*/u;
const REMOVED_CAMEL =
  /^(?:No|Without|Drop|Remove|Minus)(?=[A-Z][\p{Ll}\d])|^(?:No|Without|Drop|Remove)(?=[A-Z]{2,})/u;
// Words of other scripts are `\W` too: after one of them the text is only read as far as the next.
const REMOVED_AFTER =
  /(?:(?<![\s_:([=-])[\s_:([=-]+(?:(?:is|are|was|were|turned|switched|set to)\s+)?(?:off|disabled|removed|dropped|excluded|ablated|omitted|skipped|deactivated|entfernt|deaktiviert|weggelassen|supprimée?s?|désactivée?s?|retirée?s?|eliminad[oa]s?|desactivad[oa]s?|removid[oa]s?|rimoss[oaie]|отключен\w*|удален\w*)|(?<!\s)\s*[=:]\s*(?:false|none|off|no|0)|(?<!\s)\s*(?:なし|無し|を除く|除外))(?:(?!отключен|удален|なし|無し|を除く|除外)\W)*$/iu;
const REMOVED_WITHIN = new RegExp(
  `^(.*?)(?:(?<![\\s_,;(])[\\s_,;(]+(?:without(?: using)?|w/o|w/out|minus|but no|but not|excluding|except(?: for)?|sans|ohne|senza|zonder|без|but without|leaving out)[\\s_]+)${ARTICLE}(.+)`,
  'iu',
);
const FULL_MINUS =
  /^(?:full|all|base|baseline|everything|complete|original|ours)(?:[\s_]+(?:model|pipeline|features|solution|system))?\s*[-−–∖\\]\s*(\p{L}.*)/iu;
const REMOVED_IN_BRACKETS =
  /[([]\s*(?:no|without|w\/o|minus|drop(?:ped)?|remov(?:e|ed|ing)|disabl(?:e|ed|ing))[\s_]+(?:the )?(?![\s_])([^()[\]]+)[)\]]/iu;
const NEGATED_FLAG = /^(?:use|with|enable|include|apply|has|do|add)[\s_]+(?=\S)/i;

const ONLY_BEFORE =
  /^(?:with |using |use )?(?:only|just|solely|nothing but|exclusively|pure|nur|seulement|uniquement|solo|sólo|solamente|apenas|somente|alleen|enkel|tylko|только)(?: with| using| use| the)?[\s_:]+(\S.*)/iu;
const ONLY_BEFORE_CJK = /^(?:仅使用|仅用|仅|只使用|只用|只有|只保留)\s*(\S.*)/u;
const ONLY_AFTER =
  /^(\S.*?)(?<![\s_-])[\s_-]+(?:models? |features? |features_|model_)?(?:only|alone|seule?s?|allein|standalone|by itself|on its own)$/iu;
const ONLY_AFTER_CJK = /^(\S.*?)(?<!\s)\s*(?:のみ|だけ)$/u;
const IN_BRACKETS = /[([]([^()[\]]*)[)\]]/gu;
const ONLY_FIRST = /^(?:only|just)\s+(\S[\s\S]*)/iu;
const ONLY_LAST = /^([\s\S]*?)(?<!\s)\s+(?:models?\s+)?(?:only|alone)$/iu;

const REPLACED_WITH =
  /^(?:replac(?:e|ed|es|ing)|swap(?:ped|ping)?|substitut(?:e|ed|ing)|switch(?:ed|ing)?)\s+(?:the )?(\S.*?)(?<!\s)\s+(?:with|by|for|to)\s+\S/iu;
const IS_REPLACED =
  /^(\S.*?)(?<!\s)\s+(?:is |was )?(?:replaced|swapped|substituted)\s+(?:with|by|for)\s+\S/iu;
const INSTEAD_OF =
  /^(\S.*?)(?<![\s,([])[\s,([]+(?:instead of|rather than|in place of|replaces|replacing|statt|anstatt|anstelle von|au lieu d[eu']\s?|en lugar de|em vez de|invece di|in plaats van|вместо)\s+(\S.*)/iu;
const ARROW = /^(\S.*?)(?<!\s)\s*(?:(?<!-)-+>|→|(?<!=)=+>|⇒|➔)\s*\S/u;
/** "with fewer trees": a changed setting; the words of degree are not part of its name. */
const CHANGED_WITH =
  /^(?:with|using|use of|mit|avec|con|com)\s+(?:(?:an?|the|fewer|less|more|reduced|smaller|larger|lower|higher|default|simpler?|different)\s+)*(\S.*)/iu;
/** The value of a setting, and the sign before it. */
const VALUE_AT_END = /(?:(?<!\s)\s*[=:]\s*|(?<!\s)\s+|(?<![-\d.,]))[-\d.,]+%?$/;
const KEYED =
  /^(?:model|setup|run|method|case|system|version|mode|arch(?:itecture)?|variant|config(?:uration)?|scenario|setting|experiment|exp|ablation|name)\s*[:=]\s*(?=\S)/i;
const ADDED = /^(?:\+\s*|(?:add|added|adding|plus)[\s_]+)(?:the )?(\S.*)/iu;
const BASE_PLUS =
  /^(?:the )?(?:baseline|base|backbone|core)(?:[\s_]+model)?\s*(?:\+|plus|and|&|with)\s*(\S.*)/iu;

const NOTHING_REMOVED =
  /^(?:no[\s_-](?:ablation|ablations|changes?|removal|modifications?)|nothing(?:[\s_]+(?:removed|ablated|disabled|dropped))?|none(?:[\s_]+(?:removed|ablated|disabled))?|un(?:ablated|modified|changed|altered)|[-–—∅]|with everything|aucune?|keine ablation|ninguno|nenhum)(?:[\s_]*[([]|$)/iu;
const NAMES_BASELINE =
  /(?<![\p{L}])(?:baseline|base[\s-]line|référence|referenz\w*|referencia|referência|riferimento|línea[\s_]base|linea[\s_]base|базов\p{L}*|基线|基准|基線|ベースライン)(?![\p{Ll}])/iu;
const COMPARED_WITH_BASELINE =
  /(?:vs\.?|versus|from|than|over|to|against|with|relative to|au|zur)\s+(?:the\s+)?(?:baseline|base)/iu;
const WHOLE_PIPELINE =
  /^(?:the |our )?(?:full|complete|original|entire|whole|intact|default|control|reference|current|initial|unaltered|standard setup|all|everything|base|proposed|ours|complet|complète|tout|komplett|vollständig\p{Ll}*|gesamt\p{Ll}*|volle?s?|alles?|completo|completa|modelo completo|modèle complet|modello completo|tutto|todo|tudo|volledig|полн\p{Ll}+|все|完整|全部|全量|全て|フル|基础|すべて)(?:[\s_-]+(?:model|pipeline|solution|system|script|ensemble|set|setup|config\p{Ll}*|features?|components?|version|approach|code|on|in|enabled|included|steps|best|stack|modell|modelo|modèle|modello|模型|モデル|管道))*(?=$|[\s_]*[([{,:;/|+-])/iu;
const WHOLE_PIPELINE_CJK = /^(?:完整|全部|全量|全て|フル|基础|原始)(?:模型|モデル|流程|特征|パイプライン)?/u;

function withoutQuotes(text: string): string {
  let inner = text.trim();
  for (let round = 0; round < 3; round += 1) {
    const unquoted = inner
      .replace(/^(?:\*\*|__(?=\S)|`|["'“”‘«]|\*(?=\S))/u, '')
      .replace(/(?:\*\*|__|`|["'“”’»]|(?<=\S)\*)$/u, '')
      .replace(/^\[([^[\]]*)\]$/, '$1')
      .replace(/^\(([^()]*)\)$/, '$1')
      .replace(/^<([^<>]*)>$/, '$1')
      .replace(/(?<![\s:=>|,;.…→–—-])[\s:=>|,;.…→–—-]+$/u, '')
      .replace(/^(?:[\s:=>|,;.…]+|[-–—]+\s+)/u, '')
      .trim();
    if (unquoted === inner) break;
    inner = unquoted;
  }
  return inner;
}

/** Decoration, quotes and list signs around a label; the words stay as they were printed. */
export function plainLabel(label: string): string {
  const flat = label.replace(/[─━═]{2,}|[=#*~_-]{3,}/g, ' ').replace(/\*\*|`/g, '');
  return withoutQuotes(
    flat
      .replace(LIST_SIGN, '')
      .replace(/[…]|\.{3,}/g, ' ')
      .replace(/\s+/g, ' '),
  );
}

/** A component's name: no trailing remark in brackets, no words that only say that it is one. */
export function componentName(text: string): string {
  const name = withoutQuotes(text);
  const withoutRemark = withoutTrailingRemark(name);
  const cleaned = withoutQuotes(withoutRemark === '' ? name : withoutRemark)
    .replace(
      /(?<!\s)\s+(?:entirely|completely|altogether|at all|component|step|from (?:the )?(?:pipeline|model|ensemble))$/iu,
      '',
    )
    .replace(/^(?:component|feature|step)\s*[:=]\s*/iu, '');
  // "no scaler, no encoder" takes out both.
  const joined = cleaned.replace(/(?<!\s)\s*(?:,|\+|&|\band\b)\s*(?:no|without|w\/o)[\s_]+/giu, ' and ');
  return joined === '' ? name : joined;
}

interface Role {
  readonly role: LabelReading['role'];
  readonly component: string;
  readonly certainty?: 1 | 2;
}

function removedRole(text: string): Role | undefined {
  const minus = FULL_MINUS.exec(text);
  if (minus?.[1] !== undefined) return { role: 'removed', component: minus[1] };
  for (const pattern of [REMOVED_BEFORE, REMOVED_CAMEL, REMOVED_BEFORE_CJK]) {
    const match = pattern.exec(text);
    if (match !== null && match[0].length < text.length)
      return { role: 'removed', component: text.slice(match[0].length) };
  }
  const after = REMOVED_AFTER.exec(text);
  if (after !== null && after.index > 0) {
    return { role: 'removed', component: text.slice(0, after.index).replace(NEGATED_FLAG, '') };
  }
  const within = REMOVED_WITHIN.exec(text);
  if (within?.[2] !== undefined) return { role: 'removed', component: within[2].replace(/\)$/, '') };
  return undefined;
}

function replacedRole(text: string): Role | undefined {
  const direct = REPLACED_WITH.exec(text) ?? IS_REPLACED.exec(text) ?? ARROW.exec(text);
  if (direct?.[1] !== undefined) return { role: 'replaced', component: direct[1] };
  const instead = INSTEAD_OF.exec(text);
  const [now, before] = [instead?.[1], instead?.[2]?.replace(/[)\]]$/, '')];
  if (now === undefined || before === undefined) return undefined;
  // "max_depth=3 (instead of 7)": the setting is the component.
  if (/^[-\d.,]+%?$/.test(before) || /^(?:none|true|false)$/i.test(before)) {
    return { role: 'replaced', component: now.replace(VALUE_AT_END, '') };
  }
  // "mean imputation instead of median": the noun is said once.
  const words = now
    .replace(/(?<!\s)\s+[([].*/, '')
    .trim()
    .split(/\s+/);
  const noun = words.length > 1 && !/\s/.test(before) ? ` ${words.at(-1) ?? ''}` : '';
  return { role: 'replaced', component: `${before}${noun}` };
}

function firstGroup(text: string, patterns: readonly RegExp[]): string | undefined {
  for (const pattern of patterns) {
    const match = pattern.exec(text);
    const group = match?.[1] ?? match?.[2];
    if (group !== undefined) return group;
  }
  return undefined;
}

/** `Model (only LightGBM)`, `Model [LightGBM alone]`. */
function onlyInBrackets(text: string): string | undefined {
  for (const [, inner = ''] of text.matchAll(IN_BRACKETS)) {
    const onlyPart = firstGroup(inner.trim(), [ONLY_FIRST, ONLY_LAST]);
    if (onlyPart !== undefined) return onlyPart;
  }
  return undefined;
}

function roleOf(text: string): Role {
  if (NOTHING_REMOVED.test(text)) return { role: 'baseline', component: text, certainty: 1 };
  const outside = text.replace(/[([].*/u, '').trim() || text;
  const saysBaseline = NAMES_BASELINE.test(text) && !COMPARED_WITH_BASELINE.test(text);
  const removed = removedRole(outside) ?? removedRole(text);
  if (
    saysBaseline &&
    (removed === undefined || NAMES_BASELINE.test(outside) === (removedRole(outside) === undefined))
  ) {
    const plus = BASE_PLUS.exec(outside);
    if (plus?.[1] === undefined || /[([:]/.test(text))
      return { role: 'baseline', component: text, certainty: 2 };
    return { role: 'added', component: plus[1] };
  }
  if (removedRole(outside) !== undefined) return removedRole(text) ?? { role: 'plain', component: text };
  const onlyPart = firstGroup(outside, [ONLY_BEFORE, ONLY_BEFORE_CJK, ONLY_AFTER, ONLY_AFTER_CJK]);
  if (onlyPart !== undefined) return { role: 'kept-alone', component: onlyPart };
  if (WHOLE_PIPELINE.test(text) || WHOLE_PIPELINE_CJK.test(text))
    return { role: 'baseline', component: text, certainty: 1 };
  const replaced = replacedRole(text);
  if (replaced !== undefined) return replaced;
  const onlyBracketed = onlyInBrackets(text);
  if (onlyBracketed !== undefined) return { role: 'kept-alone', component: onlyBracketed };
  const inBrackets = REMOVED_IN_BRACKETS.exec(text)?.[1];
  if (inBrackets !== undefined) return { role: 'removed', component: inBrackets };
  if (removed !== undefined) return removed;
  const setting = CHANGED_WITH.exec(text)?.[1];
  if (setting !== undefined) {
    if (WHOLE_PIPELINE.test(setting)) return { role: 'baseline', component: text, certainty: 1 };
    return { role: 'changed', component: setting };
  }
  const added = firstGroup(text, [ADDED, BASE_PLUS]);
  if (added !== undefined) return { role: 'added', component: added };
  return { role: 'plain', component: text };
}

/**
 * Reads what a variant's name says about it: the baseline, or which component is taken out, replaced,
 * added, or kept alone.
 */
export function readLabel(label: string): LabelReading {
  let text = plainLabel(label.slice(0, 400));
  let isRun = false;
  let isExplicit = false;
  let number: string | undefined;
  const run = /fold|split|seed|rep|pli|durchlauf/i.test(text) ? RUN.exec(text) : null;
  if (run !== null) {
    isRun = true;
    text = withoutQuotes(`${text.slice(0, run.index)} ${text.slice(run.index + run[0].length)}`);
  }
  for (let round = 0; round < 4; round += 1) {
    const before = text;
    text = text.replace(PROGRESS_SIGN, '').replace(KEYED, '').replace(CONDITION, '');
    const numbered = NUMBERED.exec(text);
    if (numbered !== null && number === undefined) {
      number = `ablation ${numbered[1]?.toLowerCase() ?? ''}`;
      isExplicit = true;
      text = text.slice(numbered[0].length);
    } else {
      const bare = BARE_ABLATION.exec(text);
      if (bare !== null && bare[0].length < text.length) {
        isExplicit = true;
        text = text.slice(bare[0].length);
      }
    }
    if (text === before.replace(PROGRESS_SIGN, '').replace(KEYED, '').replace(CONDITION, ''))
      text = text.replace(ACTIVITY, '');
    text = withoutQuotes(text);
    if (text === before) break;
  }
  const role: Role = text === '' ? { role: 'plain', component: '' } : roleOf(text);
  return {
    role: role.role,
    component: role.role === 'baseline' ? text : componentName(role.component),
    text,
    certainty: role.certainty ?? 0,
    isRun,
    isExplicit: isExplicit || role.role !== 'plain',
    ...(number === undefined ? {} : { number }),
  };
}
