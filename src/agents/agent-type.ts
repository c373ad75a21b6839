/** The agents of the fleet; detection and correction share one type (REQ-SF-011, REQ-SF-016). */
export const AgentType = {
  leakage: 'leakage',
  summarize: 'summarize',
  extractor: 'extractor',
} as const;
export type AgentType = (typeof AgentType)[keyof typeof AgentType];
