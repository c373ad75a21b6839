/**
 * The model that is asked where neither the payload, the agent nor the configuration (`FLEET_MODEL`) names
 * one. The only place in the code that names a default model.
 */
export const DEFAULT_MODEL = 'claude-sonnet-5-5';
