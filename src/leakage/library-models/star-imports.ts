/** Modules whose names are known, as far as they matter here: a name that they do not have comes from nowhere. */
export const KNOWN_STARS =
  /^(numpy|pandas|matplotlib|mpl_toolkits|pylab|seaborn|plotly|bokeh|sklearn|imblearn|keras|tensorflow|torch|torchvision|xgboost|lightgbm|catboost|statsmodels|math|scipy|typing|datetime|collections|itertools|functools|random|time|os|sys|IPython|ipywidgets|tqdm)\b/;
