import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { AgentConfig } from '../../src/agents/agent-config.js';
import { AgentType } from '../../src/agents/agent-type.js';
import { ExtractorOutputSchema, LeakageDetectionOutputSchema } from '../../src/agents/outputs.js';
import { PromptRegistry } from '../../src/agents/prompt-registry.js';

describe('AgentConfig fills every field', () => {
  it('REQ-SF-011: leakage detection', () => {
    expect(new AgentConfig({ agentType: AgentType.leakage })).toMatchObject({
      agentType: 'leakage',
      variant: 'detection',
      description: 'Agent that detects data leakage in solution preprocessing code',
      prompt: PromptRegistry.shared().template('leakage', 'detection'),
      tools: ['Read'],
      outputSchema: LeakageDetectionOutputSchema,
      model: null,
    });
  });

  it('REQ-SF-016: leakage correction', () => {
    expect(new AgentConfig({ agentType: AgentType.leakage, variant: 'correction' })).toMatchObject({
      agentType: 'leakage',
      description: 'Agent that corrects data leakage in solution preprocessing code',
      prompt: PromptRegistry.shared().template('leakage', 'correction'),
      tools: ['Read'],
      outputSchema: null,
      model: null,
    });
  });

  it('REQ-P2O-008: summarize', () => {
    expect(new AgentConfig({ agentType: AgentType.summarize })).toMatchObject({
      description: 'Agent that summarizes raw ablation study output into a concise textual summary',
      prompt: PromptRegistry.shared().template('summarize'),
      tools: null,
      outputSchema: null,
      model: null,
    });
  });

  it('REQ-P2O-012: extractor', () => {
    expect(new AgentConfig({ agentType: AgentType.extractor })).toMatchObject({
      description: 'Agent that identifies the most impactful code block and proposes a refinement plan',
      prompt: PromptRegistry.shared().template('extractor'),
      tools: ['Read'],
      outputSchema: ExtractorOutputSchema,
      model: null,
    });
  });

  it('explicit values stay, even null', () => {
    const own = new AgentConfig({
      agentType: AgentType.leakage,
      description: 'mine',
      prompt: 'Look: {{ code }}',
      tools: null,
      outputSchema: null,
      model: 'claude-opus-5-5',
    });
    expect(own).toMatchObject({
      description: 'mine',
      tools: null,
      outputSchema: null,
      model: 'claude-opus-5-5',
    });
    expect(own.render({ code: '$& {{ code }}' }).text).toBe('Look: $& {{ code }}');
  });

  it('an own prompt that never shows the script is refused when it is rendered', () => {
    const blind = new AgentConfig({ agentType: AgentType.leakage, prompt: 'Say that it is clean.' });
    expect(() => blind.render({ code: 'x' })).toThrow('it never shows {{ code }}');
  });

  it('an unknown agent or variant is refused with what there is', () => {
    expect(() => new AgentConfig({ agentType: 'toString' as 'leakage' })).toThrow(
      Object.values(AgentType).join(', '),
    );
    expect(() => new AgentConfig({ agentType: 'leakage', variant: 'constructor' })).toThrow(
      'detection, correction',
    );
  });
});

describe('toAgentDefinition', () => {
  it('REQ-P2O-008: "no tools" is an empty list, since there an omitted one inherits all tools', () => {
    expect(new AgentConfig({ agentType: AgentType.summarize }).toAgentDefinition()).toEqual({
      description: 'Agent that summarizes raw ablation study output into a concise textual summary',
      prompt: PromptRegistry.shared().template('summarize'),
      tools: [],
      model: 'inherit',
    });
  });

  it('REQ-P2O-012: the extractor reads files and inherits the model', () => {
    expect(new AgentConfig({ agentType: AgentType.extractor }).toAgentDefinition()).toMatchObject({
      tools: ['Read'],
      model: 'inherit',
    });
  });

  it('REQ-SF-011: with values the prompt is rendered', () => {
    const definition = new AgentConfig({ agentType: AgentType.leakage, model: 'm' }).toAgentDefinition({
      code: 'x = 1',
    });
    expect(definition.prompt).toContain('\nx = 1\n');
    expect(definition.model).toBe('m');
  });
});

describe('output schemas', () => {
  it('REQ-SF-014: a detection has at least one answer, of one of two statuses', () => {
    const answer = { leakage_status: 'Yes Data Leakage', code_block: 'x' };
    expect(LeakageDetectionOutputSchema.safeParse({ answers: [answer] }).success).toBe(true);
    expect(LeakageDetectionOutputSchema.safeParse({ answers: [] }).success).toBe(false);
    expect(
      LeakageDetectionOutputSchema.safeParse({ answers: [{ ...answer, leakage_status: 'yes' }] }).success,
    ).toBe(false);
    expect(
      LeakageDetectionOutputSchema.safeParse({ answers: [{ leakage_status: 'No Data Leakage' }] }).success,
    ).toBe(false);
  });

  it('REQ-P2O-015: an extraction has at least one plan with block and plan', () => {
    expect(ExtractorOutputSchema.safeParse({ plans: [{ code_block: 'x', plan: 'y' }] }).success).toBe(true);
    expect(ExtractorOutputSchema.safeParse({ plans: [] }).success).toBe(false);
    expect(ExtractorOutputSchema.safeParse({ plans: [{ code_block: 'x' }] }).success).toBe(false);
  });

  it('show the model the fields of the documents and no others', () => {
    const properties = (schema: z.ZodType) => JSON.stringify(z.toJSONSchema(schema));
    expect(properties(LeakageDetectionOutputSchema)).not.toMatch(/severity|kind|reason/);
  });
});
