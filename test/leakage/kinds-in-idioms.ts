import { readFileSync } from 'node:fs';

/** A leak in one idiom, or the same thing done right. */
export interface Idiom {
  readonly name: string;
  readonly leaky: boolean;
  readonly script: string;
}

const HEAD = `import copy, functools, glob, itertools, json, os, random, re
from collections import Counter, defaultdict
import numpy as np
import pandas as pd
import polars as pl
import torch
import torch.nn as nn
import torch.nn.functional as F
import tensorflow as tf
import umap
import optuna
import lightgbm as lgb
import xgboost as xgb
import category_encoders as ce
import statsmodels.api as sm
import matplotlib.pyplot as plt
from PIL import Image
from scipy import optimize, stats
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split
from tensorflow.keras.preprocessing.text import Tokenizer
from tensorflow.keras.preprocessing.sequence import pad_sequences
from gensim.models import Word2Vec
from imblearn.over_sampling import SMOTE, RandomOverSampler
from imblearn.pipeline import Pipeline as ImbPipeline
from lightgbm import LGBMClassifier, LGBMRegressor
from xgboost import XGBClassifier, XGBRegressor
from catboost import CatBoostClassifier, CatBoostRegressor, Pool
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.covariance import EllipticEnvelope
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import GradientBoostingClassifier, IsolationForest, RandomForestClassifier, RandomForestRegressor
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.feature_selection import RFE, SelectKBest, f_classif, mutual_info_classif
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LassoCV, LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score, log_loss, mean_absolute_error, mean_squared_error, precision_recall_curve, roc_auc_score, roc_curve
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, GroupKFold, GroupShuffleSplit, KFold, ParameterGrid, StratifiedKFold, TimeSeriesSplit, cross_val_predict, cross_val_score, train_test_split
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, OrdinalEncoder, PowerTransformer, QuantileTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import resample, shuffle
`;

/** Lines that many scripts have in common. */
const LINES: Readonly<Record<string, string>> = {
  '@df': 'df = pd.read_csv("d.csv")',
  '@xy': 'df = pd.read_csv("d.csv")\nX, y = df.drop(columns=["y"]), df["y"]',
  '@split': 'Xa, Xb, ya, yb = train_test_split(X, y, test_size=0.2, random_state=0)',
  '@score':
    'm = RandomForestClassifier(random_state=0).fit(Xa, ya)\nprint("val acc", accuracy_score(yb, m.predict(Xb)))',
  '@end':
    'X, y = df.drop(columns=["y"]), df["y"]\nXa, Xb, ya, yb = train_test_split(X, y, test_size=0.2, random_state=0)\nm = RandomForestClassifier(random_state=0).fit(Xa, ya)\nprint("val acc", accuracy_score(yb, m.predict(Xb)))',
  '@trte':
    'm = RandomForestClassifier(random_state=0).fit(tr.drop(columns=["y"]), tr["y"])\nprint("val acc", accuracy_score(te["y"], m.predict(te.drop(columns=["y"]))))',
  '@net': `la, lb = DataLoader(a, batch_size=32, shuffle=True), DataLoader(b, batch_size=32)
net = nn.Sequential(nn.Flatten(), nn.LazyLinear(2))
opt = torch.optim.Adam(net.parameters())
for ep in range(3):
    for xb, yb in la:
        loss = F.cross_entropy(net(xb), yb)
        opt.zero_grad(); loss.backward(); opt.step()
ok = n = 0
with torch.no_grad():
    for xb, yb in lb:
        ok += (net(xb).argmax(1) == yb).sum().item()
        n += len(yb)
print("val acc", ok / n)`,
};

/**
 * The scripts of `cases/kinds-in-idioms.txt`, below header lines `#+ kind: idiom` (leaky) and `#- kind: idiom` (clean). A line
 * such as `@split` stands for lines of this module.
 */
export function kindsInIdioms(): Idiom[] {
  const text = readFileSync(new URL('cases/kinds-in-idioms.txt', import.meta.url), 'utf8');
  return text
    .split(/^#(?=[+-] )/m)
    .slice(1)
    .map((section) => {
      const [header = '', ...lines] = section.split('\n');
      const body = lines.map((line) => LINES[line] ?? line);
      return { name: header.slice(2), leaky: header.startsWith('+'), script: HEAD + body.join('\n') };
    });
}
