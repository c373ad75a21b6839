/**
 * The model for calls if neither the payload, the agent nor the configuration (`FLEET_MODEL`) names one. No other code names
 * a default model.
 */
export const DEFAULT_MODEL = 'claude-sonnet-5-5';
