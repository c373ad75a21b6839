import { describe, expect, it } from 'vitest';
import { isRightBlock } from '../../scripts/evaluation/labeled-scripts.js';
import { analyzeLeakage } from '../../src/leakage/index.js';
import { labeledScripts } from './labeled-scripts.js';

/** What the scripts of both files begin with. */
const HEAD = `import glob, math, os, pickle
import joblib
import keras
import lightgbm as lgb
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import statsmodels.api as sm
import statsmodels.formula.api as smf
import torch
import xgboost as xgb
from catboost import CatBoostRegressor
from keras.callbacks import EarlyStopping, ModelCheckpoint
from keras.layers import LSTM, Dense
from keras.models import Sequential, load_model
from keras.preprocessing.text import Tokenizer
from scipy import stats
from sklearn import preprocessing
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import *
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import MinMaxScaler, OrdinalEncoder, StandardScaler
from sklearn.svm import SVR
from scipy.signal import savgol_filter
from sklearn.tree import DecisionTreeClassifier
from statsmodels.tsa.seasonal import seasonal_decompose
t = pd.read_csv("t.csv")
known, later = pd.read_csv("known.csv"), pd.read_csv("later.csv")
images, labels = np.load("images.npy"), np.load("labels.npy")
`;

describe('scripts in the style of notebooks', () => {
  it.each(labeledScripts('notebook-clean.txt'))('$id: $kind is clean', async ({ script }) => {
    const { findings, parsed } = await analyzeLeakage(HEAD + script);
    expect(parsed).toBe(true);
    expect(findings.map(({ explanation }) => explanation)).toEqual([]);
  });

  it.each(labeledScripts('notebook-leaky.txt'))('$id: $kind is found, at the right block', async (row) => {
    const script = HEAD + row.script;
    const { findings } = await analyzeLeakage(script);
    const right = findings.filter((finding) => isRightBlock(finding, { ...row, script }));
    expect(right.map(({ kind }) => kind)).toContain(row.kind);
  });
});
