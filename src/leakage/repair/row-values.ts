/**
 * Arguments with a value for each row beside features and labels, by the name of the parameter in scikit-learn,
 * LightGBM, XGBoost and CatBoost, also after the name of a step of a pipeline (`model__sample_weight`).
 */
const ROW_VALUES =
  /(^|_)(weights?|groups?|group_id|qid|init_score|base_margin|baseline|pairs|subgroup_id|timestamp)$/;

export function isRowValue(parameter: string | undefined): boolean {
  return parameter !== undefined && parameter !== 'class_weight' && ROW_VALUES.test(parameter);
}
